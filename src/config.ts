/** The configuration: read whole or not at all; the only reader of the environment. */
import { readFileSync } from 'node:fs'
import { dirname, resolve } from 'node:path'
import type { z } from 'zod'
import { checkSettings, tagOf } from './config/checks.ts'
import { type ConfigFault, readDocument, type Sources } from './config/document.ts'
import { assetsSchema, type ProviderSettings, type Settings, schema } from './config/schema.ts'
import { toAssetTable } from './config/table.ts'
import type { AssetTable } from './domain/asset.ts'
import type { Form } from './wire/form.ts'

export type { ConfigFault } from './config/document.ts'

export interface Provider extends ProviderSettings {
  readonly name: string
  readonly tag: string
}

/** Frozen, checked, and complete. */
export interface Config extends Omit<Settings, 'assets' | 'providers'> {
  readonly assets: AssetTable
  readonly providers: readonly Provider[]
}

/** Why a configuration is not taken: every fault, not only the first. */
export class ConfigError extends Error {
  readonly faults: readonly ConfigFault[]

  constructor(faults: readonly ConfigFault[]) {
    super(faults.map(({ path, message }) => (path === '' ? message : `${path}: ${message}`)).join('\n'))
    this.faults = faults
  }
}

export const defaultConfigFile = 'config/gateway.yaml'

/** The file that is asked for: by option, by `SWAPGATE_CONFIG`, or the default. */
export function configFile(option: string | undefined): string {
  return option ?? process.env.SWAPGATE_CONFIG ?? defaultConfigFile
}

/** Throws a `ConfigError`. Paths in the file are relative to the file. */
export function loadConfig(file: string, forms: readonly Form[], environment: Sources['environment'] = process.env): Config {
  const faults: ConfigFault[] = []
  const beside = (path: string): string => resolve(dirname(file), path)
  const sources: Sources = { environment, readFile: (path) => readFileSync(beside(path), 'utf8') }
  const settings = parse(schema, readSource(file, faults), sources, faults, '')
  if (!settings) throw new ConfigError(faults)
  const listed = parse(assetsSchema, readSource(beside(settings.assets), faults), sources, faults, 'assets')
  const table = listed && toAssetTable(listed, faults)
  checkSettings(settings, table, forms, faults)
  if (!table || faults.length > 0) throw new ConfigError(faults)
  return toConfig(settings, table)
}

function readSource(file: string, faults: ConfigFault[]): string | undefined {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    faults.push({ path: '', message: `the file ${file} cannot be read` })
    return undefined
  }
}

/** Undefined where the source has faults; they are added to `faults` under `root`. */
function parse<T extends z.ZodType>(
  shape: T,
  source: string | undefined,
  sources: Sources,
  faults: ConfigFault[],
  root: string,
): z.output<T> | undefined {
  if (source === undefined) return undefined
  const before = faults.length
  const tree = readDocument(source, sources, faults)
  if (faults.some(({ path }, at) => at >= before && path === '')) return undefined
  const result = shape.safeParse(tree)
  const under = (path: readonly PropertyKey[]): string => [...(root === '' ? [] : [root]), ...path.map(String)].join('.')
  for (const issue of result.error?.issues ?? []) {
    const keys = issue.code === 'unrecognized_keys' ? issue.keys : [undefined]
    for (const key of keys) {
      const path = under(key === undefined ? issue.path : [...issue.path, key])
      const isTold = faults.some((fault, at) => at >= before && fault.path === path)
      if (!isTold) faults.push({ path, message: key === undefined ? issue.message : 'is not a key of the configuration' })
    }
  }
  return result.data
}

function toConfig({ assets: _, providers, ...settings }: Settings, table: AssetTable): Config {
  const named = Object.entries(providers).map(([name, provider]) => ({ ...provider, name, tag: tagOf(name, provider) }))
  return { ...freeze({ ...settings, providers: named }), assets: table }
}

function freeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) Object.values(Object.freeze(value)).forEach(freeze)
  return value
}
