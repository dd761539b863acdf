/** Seeds that once failed; each is run again before anything new. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export interface Seed {
  readonly seed: number
  /** Which run of the seed, as fast-check reports it. */
  readonly path: string
}

/** `folder`: of another property than the first. */
function directoryOf(folder: string): string {
  return fileURLToPath(new URL(`seeds/${folder}`, import.meta.url))
}

export function keptSeeds(folder = ''): readonly Seed[] {
  return globSync(`${directoryOf(folder)}/*.json`).map((file) => JSON.parse(readFileSync(file, 'utf8')) as Seed)
}

export function keepSeed({ seed, path }: Seed, folder = ''): void {
  mkdirSync(directoryOf(folder), { recursive: true })
  writeFileSync(`${directoryOf(folder)}/${seed}.json`, `${JSON.stringify({ seed, path })}\n`)
}
