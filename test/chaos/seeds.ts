/** Seeds that once failed; each is run again before anything new. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Seed {
  readonly seed: number
  /** Which run of the seed, as fast-check says it. */
  readonly path: string
}

const directory = fileURLToPath(new URL('seeds', import.meta.url))

export function keptSeeds(): readonly Seed[] {
  return globSync(`${directory}/*.json`).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Seed)
}

export function keepSeed({ seed, path }: Seed): void {
  mkdirSync(directory, { recursive: true })
  writeFileSync(`${directory}/${seed}.json`, `${JSON.stringify({ seed, path })}\n`)
}
