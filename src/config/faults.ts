import { z } from 'zod'
import type { Tree } from './document.ts'
import { type ProviderSettings, type Settings, schema } from './schema.ts'

export interface ConfigFault {
  /** Like `providers.alpha.url`; empty for the file as a whole. A name that may be a secret is replaced by its length. */
  readonly path: string
  /** Never contains a value from the file: it may be a secret. */
  readonly message: string
  /** Of the key, or, where it is missing, of what it is missing in. */
  readonly line?: number
  /** The file of the line, if it is not the configuration file: that of the asset table, as the configuration names it. */
  readonly file?: string
}

/** One line. */
export function formatFault({ path, message, line, file }: ConfigFault): string {
  const place = line === undefined ? '' : ` (line ${line}${file === undefined ? '' : ` of ${file}`})`
  return `${path === '' ? message : `${path}: ${message}`}${place}`
}

/** A line for the file and a line for each fault. */
export function faultLines(file: string, faults: readonly ConfigFault[]): readonly string[] {
  const count = faults.length === 1 ? 'a fault' : `${faults.length} faults${faults.length < maxFaults ? '' : ' or more'}`
  return [`swapgate: ${file} has ${count}:`, ...faults.map((fault) => `  ${formatFault(fault)}`)]
}

export type Path = readonly PropertyKey[]

interface Shown {
  readonly path: readonly string[]
  readonly other: readonly string[]
}

/** A fault with its names, also those that are not shown. */
export interface Found {
  readonly names: readonly string[]
  readonly message: string
  readonly line?: number | undefined
  readonly file?: string | undefined
}

/** More are not read by anybody, and take long to print. */
const maxFaults = 100

/** What all views of a collection share. */
class Collection {
  readonly found = new Map<string, Found>()
  readonly shown: Shown[] = []
  /** Paths that have a fault. */
  paths = new Set<string>()
  /** These and all paths above them. */
  readonly prefixes = new Set<string>()
  /** Paths that had a fault before this stage. */
  earlier: ReadonlySet<string> = new Set<string>()
}

/**
 * Collects the faults of all stages: the source, its references, the schema, and the rules between keys. A stage goes on with what the
 * ones before could read, and says nothing that only follows from their faults:
 * - a path has faults of one stage only: a value that could not be read is not also reported as malformed;
 * - nothing is reported as missing in what could not be read as a whole;
 * - a rule between keys is not applied if one of its values is not known.
 */
export class Faults {
  private readonly collection: Collection
  private readonly root: Path
  private readonly file: string | undefined

  constructor(root: Path = [], collection = new Collection(), file?: string) {
    this.root = root
    this.collection = collection
    this.file = file
  }

  /** Shows `path`, and what is below it, as this other path. */
  showAs(path: readonly string[], other: readonly string[]): void {
    this.collection.shown.push({ path, other })
  }

  /** `line`: if it is known already. */
  add(path: Path, message: string, line?: number): void {
    const { found, paths, prefixes, earlier } = this.collection
    const names = this.namesOf(path)
    const place = JSON.stringify(names)
    if (found.size >= maxFaults || earlier.has(place)) return
    const key = JSON.stringify([names, message])
    if (!found.has(key)) found.set(key, { names, message, line, file: this.file })
    paths.add(place)
    for (let length = 0; length <= names.length; length++) prefixes.add(JSON.stringify(names.slice(0, length)))
  }

  /** The next faults are of another stage. */
  endStage(): void {
    this.collection.earlier = new Set(this.collection.paths)
  }

  /** Whether this path itself has a fault. */
  has(path: Path): boolean {
    return this.collection.paths.has(JSON.stringify(this.namesOf(path)))
  }

  /** Whether this path, or one below it, has a fault. */
  hasWithin(path: Path): boolean {
    return this.collection.prefixes.has(JSON.stringify(this.namesOf(path)))
  }

  /** Returns a view of the same collection that adds `path` in front of every path. */
  under(...path: Path): Faults {
    return new Faults([...this.root, ...path], this.collection, this.file)
  }

  /** The same, for what is in another file. */
  inFile(file: string, ...path: Path): Faults {
    return new Faults([...this.root, ...path], this.collection, file)
  }

  get isEmpty(): boolean {
    return this.collection.found.size === 0
  }

  get found(): readonly Found[] {
    return [...this.collection.found.values()]
  }

  get all(): readonly ConfigFault[] {
    return this.found.map(toConfigFault)
  }

  private namesOf(path: Path): readonly string[] {
    const given = [...this.root, ...path].map(String)
    const shown = this.collection.shown.find((one) => one.path.every((name, at) => name === given[at]))
    return shown ? [...shown.other, ...given.slice(shown.path.length)] : given
  }
}

export function toConfigFault({ names, message, line, file }: Found): ConfigFault {
  const place = { ...(line !== undefined && { line }), ...(line !== undefined && file !== undefined && { file }) }
  return { path: names.map(publicName).join('.'), message, ...place }
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
    if (issue.code === 'unrecognized_keys') {
      for (const key of issue.keys) faults.add([...issue.path, key], 'is not a key of the configuration')
    } else if (!isConsequence(issue, tree, faults)) faults.add(issue.path, issue.message)
  }
  return data
}

function isConsequence({ code, path }: z.core.$ZodIssue, tree: Tree, faults: Faults): boolean {
  // Such an issue is about a value that is made of several.
  if (code === 'invalid_union' || code === 'custom') return faults.hasWithin(path)
  const around = path.slice(0, -1)
  return path.length > 0 && faults.has(around) && !Object.hasOwn(toMapping(valueAt(tree, around)), String(path.at(-1)))
}

function valueAt(tree: Tree | undefined, path: Path): Tree | undefined {
  return path.reduce<Tree | undefined>((value, name) => {
    if (Array.isArray(value)) return value[Number(name)]
    const section = toMapping(value)
    return Object.hasOwn(section, name) ? section[String(name)] : undefined
  }, tree)
}

type Known<T> = { readonly [Key in keyof T]?: T[Key] | undefined }
type Entries<T> = { readonly [Name in keyof T]: T[Name] | undefined }
type Section = { readonly [key: string]: unknown }

/** The keys of a provider that are known, and of these three mappings the entries. */
export type KnownProvider = Known<Omit<ProviderSettings, 'settings' | 'statuses' | 'assets'>> & {
  readonly [Key in 'settings' | 'statuses' | 'assets']?: Entries<ProviderSettings[Key]> | undefined
}

/** What is known of the settings: a key with a fault has no value, so that one run checks the others too. */
export type Parts = {
  readonly [Key in Exclude<keyof Settings, 'providers'>]?:
    | (Settings[Key] extends Section ? Known<Settings[Key]> : Settings[Key])
    | undefined
} & {
  /** A provider without a value is in the file, but nothing is known of it. */
  readonly providers?: Readonly<Record<string, KnownProvider | undefined>> | undefined
}

/** What is known of a tree with these faults. */
export function knownParts(tree: Tree, faults: Faults): Parts {
  const { providers, ...sections } = schema.shape
  const given = toMapping(tree)
  const known = Object.entries(sections).map(([key, section]) => {
    if (faults.has([]) && given[key] === undefined) return [key, undefined]
    const inner = section instanceof z.ZodPrefault ? section.unwrap() : section
    if (!(inner instanceof z.ZodObject)) return [key, knownValue(section, given[key], faults.under(key))]
    return [key, knownKeys(inner.shape, given[key], faults.under(key))]
  })
  const { valueType } = providers
  const named = Object.entries(toMapping(given.providers)).map(([name, provider]) => [
    name,
    faults.has(['providers', name]) ? undefined : knownKeys(valueType.shape, provider, faults.under('providers', name)),
  ])
  const isUnknown = faults.has([]) || faults.has(['providers'])
  return { ...Object.fromEntries(known), providers: isUnknown ? undefined : Object.fromEntries(named) }
}

/** Those keys of a shape that have a value without a fault, or a default. */
export function knownKeys<T extends z.ZodRawShape>(
  shape: T,
  tree: Tree | undefined,
  faults: Faults,
): Known<{ [Key in keyof T]: z.output<T[Key]> }> {
  const given = toMapping(tree)
  const keys = faults.has([]) ? [] : Object.keys(shape)
  const known = keys.map((key) => [key, knownValue(shape[key] as z.ZodType, given[key], faults.under(key))])
  return Object.fromEntries(known)
}

function knownValue(kind: z.ZodType, tree: Tree | undefined, faults: Faults): unknown {
  if (!faults.hasWithin([])) return kind.safeParse(tree).data
  const inner = kind instanceof z.ZodDefault ? kind.unwrap() : kind
  if (faults.has([]) || !(inner instanceof z.ZodRecord)) return undefined
  const { valueType } = inner as z.ZodRecord<z.ZodString, z.ZodType>
  const entries = Object.entries(toMapping(tree)).map(([name, value]) => [name, knownValue(valueType, value, faults.under(name))])
  return Object.fromEntries(entries)
}

/** Empty for another kind of tree. */
export function toMapping(tree: Tree | undefined): { [key: string]: Tree } {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree) ? tree : {}
}
