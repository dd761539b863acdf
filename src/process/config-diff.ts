/** What a reload would change: the keys in which a configuration differs from the one in force (docs/contract-operators.md §13). */
import type { Config } from '../config/index.ts'
import { isSecretAt } from '../config/secrets.ts'
import { type StartSettings, startSettings, withStartSettings } from './start-settings.ts'

export interface ConfigChange {
  /** Like `providers.alpha.url`. An asset of the table is named by its code. */
  readonly key: string
  readonly change: 'added' | 'removed' | 'changed'
  /** Null if there is none, if it is secret, and for a whole provider or asset. */
  readonly before: unknown
  readonly after: unknown
  readonly isSecret: boolean
  readonly takesEffect: 'reload' | 'restart'
}

/** A configuration that may leave its process: of a secret it has a digest. */
export interface ComparableConfig {
  /** Two are compared with one salt. */
  readonly salt: string
  readonly settings: Section
  /** What only a start reads. */
  readonly started: Section
}

export function isComparable(value: unknown): value is ComparableConfig {
  return isSection(value) && typeof value.salt === 'string' && isSection(value.settings) && isSection(value.started)
}

/** 20 bits: a changed secret is not noticed once in a million times, and no secret can be found by them. */
const digestDigits = 5

/** `digest`: in hexadecimal digits. `started`: with the settings of the start. */
export function comparable(
  config: Config,
  salt: string,
  digest: (text: string) => string,
  started: StartSettings = startSettings(config),
): ComparableConfig {
  const mask = (value: unknown, path: Path): unknown => {
    if (isSection(value)) return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, mask(inner, [...path, key])]))
    if (!isSecretAt(path, value)) return value
    return `${secret}${digest(`${salt} ${JSON.stringify(value)}`).slice(0, digestDigits)}`
  }
  const masked = (settings: object): Section => mask(JSON.parse(JSON.stringify(settings)), []) as Section
  const running = { ...withStartSettings(config, started), admin: { ...config.admin, ...started.admin } }
  return { salt, settings: masked(sectionsOf(running)), started: masked(started) }
}

const secret = 'secret:'

/** Sorted as the sections of the file are. */
export function changesBetween(before: ComparableConfig, after: ComparableConfig): readonly ConfigChange[] {
  return differences(before.settings, after.settings).map(({ path, before: was, after: is }) => {
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed'
    const isSecret = [was, is].some(hasSecret)
    const isWhole = path.length === 2 && (path[0] === 'providers' || path[0] === 'assets')
    const shown = (value: unknown): unknown => (isSecret || isWhole ? null : (value ?? null))
    const takesEffect = [before, after].some(({ started }) => valueAt(started, path) !== undefined) ? 'restart' : 'reload'
    return { key: path.join('.'), change, before: shown(was), after: shown(is), isSecret, takesEffect }
  })
}

type Section = Readonly<Record<string, unknown>>
type Path = readonly string[]

/** As in the file, with the effective values of keys that it leaves out. */
function sectionsOf({ assets, keyInQuery, providers, texts: _, hash: __, warnings: ___, ...sections }: Config): Section {
  const named = providers.map(({ name, namesAccount: _, depositMemo, ...provider }) => [
    name,
    { ...provider, depositMemo: depositMemo.networks },
  ])
  const rows = assets.coins.flatMap((coin) => coin.assets).map((asset) => [asset.code, asset])
  return { ...sections, exolix: { keyInQuery }, providers: Object.fromEntries(named), assets: Object.fromEntries(rows) }
}

interface Difference {
  readonly path: Path
  readonly before: unknown
  readonly after: unknown
}

/** A section that only one of them has is one difference. */
function differences(before: Section, after: Section, above: Path = []): readonly Difference[] {
  const keys = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...keys].flatMap((key) => {
    const path = [...above, key]
    const [was, is] = [before[key], after[key]]
    if (isSection(was) && isSection(is)) return differences(was, is, path)
    return JSON.stringify(was) === JSON.stringify(is) ? [] : [{ path, before: was, after: is }]
  })
}

function isSection(value: unknown): value is Section {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Itself, or in it. */
function hasSecret(value: unknown): boolean {
  if (isSection(value)) return Object.values(value).some(hasSecret)
  return typeof value === 'string' && value.startsWith(secret)
}

function valueAt(settings: Section, path: Path): unknown {
  return path.reduce<unknown>((value, key) => (isSection(value) && Object.hasOwn(value, key) ? value[key] : undefined), settings)
}
