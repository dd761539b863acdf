/** Loads the configuration, and either accepts all of it or none. Only this module reads the environment. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AssetTable } from '../domain/swap/asset.ts'
import { findProviderForm, type KnownForms } from '../wire/provider/from-client-form.ts'
import { toAssetTable } from './asset-table.ts'
import { checkParts, tagOf } from './checks.ts'
import { readDocument, type Tree } from './document.ts'
import { type ConfigFault, Faults } from './faults.ts'
import { interpolate, type Sources } from './interpolation.ts'
import { addVariables } from './otel-variables.ts'
import { assetsSchema } from './schema/asset-table.ts'
import { type ProviderSettings, type Settings, schema } from './schema.ts'
import { validate, validParts } from './validation.ts'

export type { ConfigFault } from './faults.ts'

export interface Provider extends ProviderSettings {
  readonly name: string
  readonly tag: string
}

/** A validated configuration. It is frozen. */
export interface Config extends Omit<Settings, 'assets' | 'providers'> {
  readonly assets: AssetTable
  readonly providers: readonly Provider[]
  /** Every file that was read. A change of one of them requires a reload. */
  readonly files: readonly string[]
  /** SHA-256 of the configuration file. */
  readonly hash: string
}

/** A configuration is rejected. Lists every fault, not only the first. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n'))
    this.faults = faults
  }
}

const defaultConfigFile = 'config/gateway.yaml'

/** The configuration in the package: the gateway in front of its own sandbox. */
export const packagedConfigFile = join(import.meta.dirname, '../../config/gateway.yaml')

/** The file from the option, from `SWAPGATE_CONFIG`, or the default. If the default does not exist: the packaged file. */
export function configFile(option: string | undefined): string {
  const named = option ?? process.env.SWAPGATE_CONFIG
  if (named) return named
  return existsSync(defaultConfigFile) ? defaultConfigFile : packagedConfigFile
}

/** The keys of a configuration file as an object; those that are left out have their defaults. */
export type ConfigSettings = Given<Settings>
type Given<T> = T extends readonly (infer Item)[]
  ? readonly Given<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]?: Given<T[Key]> }
    : T

/** The file that a new configuration is written to. */
export function newConfigFile(option: string | undefined): string {
  return option || process.env.SWAPGATE_CONFIG || defaultConfigFile
}

/** Whether a reference to this environment variable has a value. */
export function hasVariable(name: string): boolean {
  return Boolean(process.env[name])
}

/** Throws a `ConfigError` if the configuration is not valid. Paths in the file are relative to the file. */
export function loadConfig(file: string, forms: KnownForms, environment: Sources['environment'] = process.env): Config {
  const faults = new Faults()
  const sources = { environment, files: new Set<string>() }
  const source = readSource(file, sources, faults)
  return parseConfig(source, file, forms, sources, faults)
}

/** The same for an object. Paths are relative to the working directory; without `assets`, the table of the package is used. */
export function readSettings(
  settings: ConfigSettings,
  forms: KnownForms,
  environment: Sources['environment'] = process.env,
): Config {
  const sources = { environment, files: new Set<string>() }
  const source = JSON.stringify({ assets: join(dirname(packagedConfigFile), 'assets.yaml'), ...settings })
  return parseConfig(source, resolve('settings'), forms, sources, new Faults())
}

function parseConfig(source: string | undefined, file: string, forms: KnownForms, sources: FileReader, faults: Faults): Config {
  const { environment } = sources
  const document = source === undefined ? undefined : toTree(source, file, sources, faults)
  if (source === undefined || document === undefined) throw new ConfigError(faults.all)
  const tree = addVariables(document, environment)
  const settings = validate(schema, tree, faults)
  const parts = settings ?? validParts(tree)
  const table = parts.assets === undefined ? undefined : readTable(resolve(dirname(file), parts.assets), sources, faults)
  checkParts(parts, table, forms, faults)
  if (!settings || !table || faults.all.length > 0) throw new ConfigError(faults.all)
  const hash = createHash('sha256').update(source).digest('hex')
  return toConfig(settings, table, forms, { files: [...sources.files], hash })
}

interface FileReader extends Pick<Sources, 'environment'> {
  /** Files that were read, or that could not be read. */
  readonly files: Set<string>
}

/** The table of the last source without references. The shipped table takes 80 ms to parse, and most reloads do not change it. */
let parsedTable: { readonly source: string; readonly table: AssetTable } | undefined

function readTable(file: string, reader: FileReader, faults: Faults): AssetTable | undefined {
  const assetFaults = faults.under('assets')
  const source = readSource(file, reader, assetFaults)
  if (source !== undefined && source === parsedTable?.source) return parsedTable.table
  const table = source === undefined ? undefined : parseTable(file, source, reader, assetFaults)
  if (source !== undefined && table && faults.all.length === 0 && !source.includes('${')) parsedTable = { source, table }
  return table
}

function parseTable(file: string, source: string, reader: FileReader, assetFaults: Faults): AssetTable | undefined {
  const tree = toTree(source, file, reader, assetFaults)
  const coins = tree === undefined ? undefined : validate(assetsSchema, tree, assetFaults)
  return coins && toAssetTable(coins, assetFaults)
}

/** The document with its references resolved. Undefined if the source is not a document. */
function toTree(source: string, file: string, { environment, files }: FileReader, faults: Faults): Tree | undefined {
  const tree = readDocument(source, faults)
  if (tree === undefined) return undefined
  const readFile = (path: string): string => {
    files.add(resolve(dirname(file), path))
    return readFileSync(resolve(dirname(file), path), 'utf8')
  }
  return interpolate(tree, { environment, readFile }, faults)
}

function readSource(file: string, { files }: FileReader, faults: Faults): string | undefined {
  files.add(resolve(file))
  try {
    return readFileSync(file, 'utf8')
  } catch (reason) {
    const code = reason instanceof Error && 'code' in reason ? reason.code : undefined
    faults.add([], `the file ${file} cannot be read (${code})`)
    return undefined
  }
}

function toConfig(
  { assets: _, providers, ...settings }: Settings,
  table: AssetTable,
  { providerForms }: KnownForms,
  read: Pick<Config, 'files' | 'hash'>,
): Config {
  const named = Object.entries(providers).map(([name, provider]) => {
    const known = findProviderForm(provider.form, providerForms)
    const depositMemo = [...new Set([...(known?.depositMemo ?? []), ...provider.depositMemo])]
    return { ...provider, name, form: known?.name ?? provider.form, tag: tagOf(name, provider), depositMemo }
  })
  return Object.freeze({ ...freeze({ ...settings, providers: named, ...read }), assets: table })
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}
