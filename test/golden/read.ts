import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Promises } from './check.ts'
import { type Golden, parseGolden } from './golden.ts'

/** All goldens of a form, by the name of its folder. */
export function readGoldens(name: string): readonly Golden[] {
  const folder = join(import.meta.dirname, name)
  const files = readdirSync(folder).filter((file) => file.endsWith('.txt'))
  return files.sort().map((file) => parseGolden(file, readFileSync(join(folder, file), 'utf8')))
}

export const promises = {
  a: {
    name: 'A',
    header: 'Authorization',
    newestFirst: false,
    hasExpectedAmount: true,
    isChosenByKey: true,
    hasIdempotencyKey: true,
  },
  b: { name: 'B', header: 'X-API-Key', newestFirst: true, hasExpectedAmount: false, isChosenByKey: true, hasIdempotencyKey: true },
  'exolix-client': {
    name: 'exolix',
    header: 'Authorization',
    newestFirst: false,
    hasExpectedAmount: true,
    isChosenByKey: false,
    hasIdempotencyKey: false,
  },
} as const satisfies Readonly<Record<string, Promises>>
