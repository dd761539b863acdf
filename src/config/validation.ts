/** zod: validates a document against a schema. */
import type { z } from 'zod'
import type { Tree } from './document.ts'
import type { Faults } from './faults.ts'
import { type Settings, schema } from './schema.ts'

/** Keys with an earlier name. */
const renamed: ReadonlyMap<string, string> = new Map([['routing.patience', 'routing.patienceMs']])

/** Adds a fault for each mismatch. Undefined if the tree does not match the shape. */
export function validate<T extends z.ZodType>(shape: T, tree: Tree, faults: Faults): z.output<T> | undefined {
  const { data, error } = shape.safeParse(tree)
  for (const issue of error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') faults.add(issue.path, issue.message)
    else for (const key of issue.keys) faults.add([...issue.path, key], unknownKey([...issue.path, key].join('.')))
  }
  return data
}

function unknownKey(path: string): string {
  const name = renamed.get(path)
  return name === undefined ? 'is not a key of the configuration' : `is now called ${name}`
}

/** The settings, or their valid parts, so that one run checks these parts too. */
export type Parts = Partial<Omit<Settings, 'providers'>> & {
  readonly providers: Readonly<Record<string, Settings['providers'][string] | undefined>>
}

/** The valid parts of a tree with faults. Validates each section and each provider separately. */
export function validParts(tree: Tree): Parts {
  const { providers, ...sections } = schema.shape
  const given = toMapping(tree)
  const valid = Object.entries(sections).map(([key, section]) => [key, section.safeParse(given[key]).data] as const)
  const named = Object.entries(toMapping(given.providers)).map(
    ([name, provider]) => [name, providers.valueType.safeParse(provider).data] as const,
  )
  return { ...Object.fromEntries(valid), providers: Object.fromEntries(named) }
}

function toMapping(tree: Tree | undefined): Readonly<Record<string, Tree>> {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? tree : {}
}
