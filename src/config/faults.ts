import type { z } from 'zod'
import type { Tree } from './document.ts'
import { type Settings, schema } from './schema.ts'

export interface ConfigFault {
  /** Like `providers.alpha.url`; empty for the file as a whole. A name that may be a secret is replaced by its length. */
  readonly path: string
  /** Never contains a value from the file: it may be a secret. */
  readonly message: string
}

/** One line. */
export function formatFault({ path, message }: ConfigFault): string {
  return path === '' ? message : `${path}: ${message}`
}

/** A line for the file and a line for each fault. */
export function faultLines(file: string, faults: readonly ConfigFault[]): readonly string[] {
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults`
  return [`swapgate: ${file} has ${count}:`, ...faults.map((fault) => `  ${formatFault(fault)}`)]
}

export type Path = readonly PropertyKey[]

interface Shown {
  readonly path: readonly string[]
  readonly other: readonly string[]
}

/** More are not read by anybody, and take long to print. */
const maxFaults = 100

/** Collects the first fault of each path, of 100 paths: a missing value is not also reported as malformed. */
export class Faults {
  private readonly byPath: Map<string, ConfigFault>
  private readonly shown: Shown[]
  private readonly root: Path

  constructor(root: Path = [], byPath = new Map<string, ConfigFault>(), shown: Shown[] = []) {
    this.root = root
    this.byPath = byPath
    this.shown = shown
  }

  /** Shows `path`, and what is below it, as this other path. */
  showAs(path: readonly string[], other: readonly string[]): void {
    this.shown.push({ path, other })
  }

  add(path: Path, message: string): void {
    if (this.byPath.size >= maxFaults) return
    const given = [...this.root, ...path].map(String)
    const shown = this.shown.find((one) => one.path.every((name, at) => name === given[at]))
    const names = shown ? [...shown.other, ...given.slice(shown.path.length)] : given
    const full = JSON.stringify(names)
    if (!this.byPath.has(full)) this.byPath.set(full, { path: names.map(publicName).join('.'), message })
  }

  /** Returns a view of the same collection that adds `path` in front of every path. */
  under(...path: Path): Faults {
    return new Faults([...this.root, ...path], this.byPath, this.shown)
  }

  get all(): readonly ConfigFault[] {
    return [...this.byPath.values()]
  }
}

// Names in messages about a configuration. A secret in the place of a key is not shown.

const shape = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,23}$/
const separator = /[_.-]/
const suspicious = /secret|passw|token|api|key|canary|^(?:sk|pk|rk)[_-]/i
/** No key or code with a separator, or with a digit, is longer. */
const maxSeparatedLength = 16
const maxNumberedLength = 11
const maxDigitRuns = 1

/** The name, if it looks like the name of a key, code or provider; else only its length. */
export function publicName(name: string): string {
  return isWord(name) ? name : `<${[...name].length} characters>`
}

function isWord(name: string): boolean {
  if (!shape.test(name)) return false
  const digitRuns = name.match(/\d+/g)?.length ?? 0
  if (digitRuns > maxDigitRuns || (digitRuns > 0 && name.length > maxNumberedLength)) return false
  // Each part of a camelCase word has some letters.
  if ((name.match(/[a-z][A-Z]/g)?.length ?? 0) > name.length / 4) return false
  if (!separator.test(name)) return true
  return digitRuns === 0 && name.length <= maxSeparatedLength && !suspicious.test(name)
}

// zod: validates a document against a schema.

/** Adds a fault for each mismatch. Undefined if the tree does not match the shape. */
export function validate<T extends z.ZodType>(shape: T, tree: Tree, faults: Faults): z.output<T> | undefined {
  const { data, error } = shape.safeParse(tree)
  for (const issue of error?.issues ?? []) {
    if (issue.code !== 'unrecognized_keys') faults.add(issue.path, issue.message)
    else for (const key of issue.keys) faults.add([...issue.path, key], 'is not a key of the configuration')
  }
  return data
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

/** Empty for another kind of tree. */
export function toMapping(tree: Tree | undefined): { [key: string]: Tree } {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? tree : {}
}
