/** zod: a document against a schema, with every fault in the words of `docs/configuration.md`. */
import type { z } from 'zod'
import type { Tree } from './document.ts'
import type { Faults } from './faults.ts'
import { type Settings, schema } from './schema.ts'

/** Keys that were called otherwise once. */
const renamed: ReadonlyMap<string, string> = new Map([['routing.patience', 'routing.patienceMs']])

/** Undefined where the tree is not of the shape; every reason is a fault. */
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

/** The settings, or such parts of them as are whole, so that these are checked in the same go. */
export type Parts = Partial<Omit<Settings, 'providers'>> & {
  readonly providers: Readonly<Record<string, Settings['providers'][string] | undefined>>
}

/** The parts of a tree that has faults: each section for itself, each provider for itself. */
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
