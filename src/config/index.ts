/** Loads the configuration, and either accepts all of it or none. Only this module reads the environment. */
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import type { AssetTable } from '../domain/asset.ts'
import type { DepositMemoNetworks } from '../domain/swap.ts'
import { findProviderForm, type KnownForms } from '../wire/provider-form.ts'
import { checkParts, tagOf } from './checks.ts'
import { parse, parseInThread, type Tree } from './document.ts'
import { checkProxyVariable, proxyOf, proxyWarnings } from './egress.ts'
import { type ConfigFault, Faults, formatFault, knownParts, validate } from './faults.ts'
import { type OtelVariables, type OtlpCertificates, readOtelVariables, removeUnusable } from './otel-variables.ts'
import { type FileReader, maxEntries, type Reading, readSource, readTable, type Sources, toLocated, toTree } from './read-file.ts'
import { renameKeys } from './renamed-keys.ts'
import { type ProviderSettings, type Settings, schema } from './schema.ts'

export { type ConfigFault, faultLines, formatFault } from './faults.ts'

export interface Provider extends Omit<ProviderSettings, 'depositMemo' | 'proxy'> {
  readonly name: string
  readonly tag: string
  readonly depositMemo: DepositMemoNetworks
  /** The URL of the one that is used; empty: none. */
  readonly proxy: string
  /** Its own tag if the file names none. */
  readonly account: string
  /** Whether the file names it. */
  readonly namesAccount: boolean
}

/** On these a deposit address is an account's with many owners, at every service that is not known to have one for each swap. */
const sharedByDefault = ['XRP', 'XLM']

/** A validated configuration. It is frozen. */
export interface Config extends Omit<Settings, 'assets' | 'providers' | 'exolix'> {
  readonly assets: AssetTable
  /** Whether a form of clients that takes the key beside its header takes it in the query too. */
  readonly keyInQuery: boolean
  readonly providers: readonly Provider[]
  /** Every file that was read, with its text. A change of one of them requires a reload. */
  readonly texts: ReadonlyMap<string, string>
  /** SHA-256 of the configuration file. */
  readonly hash: string
  /** Keys with an earlier name, variables of OpenTelemetry that cannot be used, and what a newer asset table has. */
  readonly warnings: readonly string[]
}

/** A configuration is rejected. Lists every fault, not only the first. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(formatFault).join('\n'))
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

/** Whether output may have colours, where its reader can show them: `NO_COLOR` (no-color.org) forbids it, whatever else is set. */
export function mayColour(): boolean {
  return !process.env.NO_COLOR
}

/** What OpenTelemetry's variables say of the certificates for the connection to a collector. */
export function otlpCertificates(): OtlpCertificates {
  return readOtelVariables(process.env).certificates
}

/** Takes OpenTelemetry's variables that cannot be used out of this process: its SDK reads them too, and fails with some of them. */
export function removeUnusableOtelVariables(): void {
  removeUnusable(process.env)
}

/** The size of libuv's pool of threads, as libuv reads it. */
export function poolThreads(): number {
  const given = process.env.UV_THREADPOOL_SIZE
  return given === undefined ? 4 : Math.min(Math.max(Number.parseInt(given, 10) || 1, 1), 1_024)
}

/** Throws a `ConfigError` if the configuration is not valid. Paths in the file are relative to the file. */
export function loadConfig(file: string, forms: KnownForms, environment: Sources['environment'] = process.env): Config {
  return parsed(readConfig(file, forms, { environment, texts: new Map() }))
}

/** Ports that count in place of the file's, by section. */
export interface Ports {
  readonly server?: string | undefined
  readonly admin?: string | undefined
  readonly sandbox?: string | undefined
}

/**
 * The same, parsed in a thread of its own: whatever the file has, this one goes on. `texts`: what another process has read, in place of
 * the files.
 */
export async function loadConfigInThread(
  file: string,
  forms: KnownForms,
  ports: Ports = {},
  texts?: Config['texts'],
): Promise<Config> {
  const reading = readConfig(file, forms, { environment: process.env, texts: new Map(), given: texts }, ports)
  let step = reading.next()
  while (!step.done) step = reading.next(await parseInThread(...step.value))
  return step.value
}

function readConfig(file: string, forms: KnownForms, sources: FileReader, ports: Ports = {}): Reading<Config> {
  const faults = new Faults()
  return parseConfig(readSource(file, sources, faults), file, forms, sources, faults, ports)
}

function parsed(reading: Reading<Config>): Config {
  let step = reading.next()
  while (!step.done) step = reading.next(parse(...step.value))
  return step.value
}

/** The same for an object. Paths are relative to the working directory; without `assets`, the table of the package is used. */
export function readSettings(
  settings: ConfigSettings,
  forms: KnownForms,
  environment: Sources['environment'] = process.env,
): Config {
  const sources = { environment, texts: new Map<string, string>() }
  const source = JSON.stringify({ assets: join(dirname(packagedConfigFile), 'assets.yaml'), ...settings })
  return parsed(parseConfig(source, resolve('settings'), forms, sources, new Faults()))
}

function* parseConfig(
  source: string | undefined,
  file: string,
  forms: KnownForms,
  sources: FileReader,
  faults: Faults,
  ports: Ports = {},
): Reading<Config> {
  const { environment } = sources
  if (source === undefined) throw new ConfigError(faults.all)
  const document = yield* toTree([source, maxEntries], file, sources, faults)
  if (document === undefined) throw new ConfigError(yield* toLocated(faults, source, undefined))
  const variables = readOtelVariables(environment)
  const tree = withPorts(addVariables(document, variables), ports)
  const unusable = [...variables.faults].map(([name, wrong]) => `${name} of the environment is ignored: it ${wrong}`)
  const warnings = [...renameKeys(tree, faults), ...unusable]
  faults.endStage()
  const settings = validate(schema, tree, faults)
  faults.endStage()
  const parts = settings && faults.isEmpty ? settings : knownParts(tree, faults)
  const assets = parts.assets === undefined ? undefined : yield* readTable(parts.assets, dirname(file), sources, faults)
  faults.endStage()
  checkParts(parts, assets?.table, forms, faults)
  checkProxyVariable(parts, environment, faults)
  if (!settings || !assets || !faults.isEmpty) {
    const tableSource = parts.assets === undefined ? undefined : sources.texts.get(resolve(dirname(file), parts.assets))
    throw new ConfigError(yield* toLocated(faults, source, tableSource))
  }
  const hash = createHash('sha256').update(source).digest('hex')
  const read = {
    texts: sources.texts,
    hash,
    warnings: [...warnings, ...assets.warnings, ...proxyWarnings(settings, environment)],
  }
  return toConfig(settings, assets.table, forms, read, environment)
}

function toConfig(
  { assets: _, providers, exolix: { keyInQuery }, ...settings }: Settings,
  table: AssetTable,
  { providerForms }: KnownForms,
  read: Pick<Config, 'texts' | 'hash' | 'warnings'>,
  environment: Sources['environment'],
): Config {
  const named = Object.entries(providers).map(([name, provider]) => {
    const known = findProviderForm(provider.form, providerForms)
    const depositMemo = {
      networks: provider.depositMemo ?? [...new Set([...sharedByDefault, ...(known?.depositMemo ?? [])])],
      isConfigured: provider.depositMemo !== undefined,
      usesFlags: provider.depositMemo === undefined && known?.flagsDepositMemos === true,
    }
    const tag = tagOf(name, provider)
    return {
      ...provider,
      name,
      form: known?.name ?? provider.form,
      tag,
      account: provider.account || tag,
      namesAccount: provider.account !== '',
      depositMemo,
      proxy: proxyOf(provider.url, provider.proxy ?? settings.egress.proxy ?? 'direct', environment),
    }
  })
  return Object.freeze({ ...freeze({ ...settings, keyInQuery, providers: named, ...read }), assets: table })
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}

/** Adds what OpenTelemetry's variables set. The file takes precedence; of the two endpoints it may name either. */
function addVariables(tree: Tree, { settings }: OtelVariables): Tree {
  if (!isMapping(tree)) return tree
  const configured = tree.telemetry ?? {}
  if (!isMapping(configured)) return tree
  const { endpoint: _, tracesEndpoint: __, ...others } = settings
  const added = 'endpoint' in configured || 'tracesEndpoint' in configured ? others : settings
  return Object.keys(added).length === 0 ? tree : { ...tree, telemetry: { ...added, ...configured } }
}

function withPorts(tree: Tree, ports: Ports): Tree {
  if (!isMapping(tree)) return tree
  const sections = Object.entries(ports).flatMap(([section, port]) => {
    const configured = tree[section] ?? {}
    return port !== undefined && isMapping(configured) ? [[section, { ...configured, port }]] : []
  })
  return { ...tree, ...providersAtSandbox(tree, ports.sandbox), ...Object.fromEntries(sections) }
}

const defaultSandboxPort = 9101

/** The providers that are the sandbox of this file move with it. */
function providersAtSandbox({ sandbox, providers }: { [key: string]: Tree }, port: string | undefined): { [key: string]: Tree } {
  if (port === undefined || providers === undefined || !isMapping(providers)) return {}
  const from = (sandbox !== undefined && isMapping(sandbox) && sandbox.port) || defaultSandboxPort
  const start = `http://127.0.0.1:${from}/`
  const moved = Object.entries(providers).map(([name, facts]): [string, Tree] => {
    const url = isMapping(facts) ? facts.url : undefined
    const isThere = typeof url === 'string' && url.startsWith(start)
    return [name, isThere ? { ...(facts as object), url: `http://127.0.0.1:${port}/${url.slice(start.length)}` } : facts]
  })
  return { providers: Object.fromEntries(moved) }
}

function isMapping(tree: Tree): tree is { [key: string]: Tree } {
  return typeof tree === 'object' && tree !== null && !Array.isArray(tree)
}
