/** The files that a gateway of the rig is started with. */
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { copyLedger } from '../support/bundle.ts'
import { assets } from '../support/swaps.ts'

export interface Place {
  /** Default: 127.0.0.1. */
  readonly host?: string
  readonly server: number
  readonly admin: number
}

export interface GatewaySettings {
  /** Where its configuration and its ledger lie. Gateways that share a ledger may share it. */
  readonly directory: string
  readonly mode: 'passthrough' | 'managed'
  readonly providers: Readonly<Record<string, { readonly form: string; readonly url: string; readonly [setting: string]: unknown }>>
  /** Default: SQLite in the directory. */
  readonly ledger?: string
  /** Where it listens. Default: free ports of 127.0.0.1. */
  readonly place?: Place
  readonly server?: Readonly<Record<string, unknown>>
  readonly admin?: Readonly<Record<string, unknown>>
  /** Of the process, besides the rig's own. */
  readonly nodeOptions?: string
  /** Other sections of the configuration file; they replace the ones below. */
  readonly sections?: Readonly<Record<string, unknown>>
}

/** No limits. */
const limits = { quotes: 100_000, create: 100_000, read: 100_000, unverified: 100_000 }
const rateLimit = { quotes: 0, create: 0, read: 0 }

/** The path of a ledger of its own. */
export function ledgerIn(directory: string): string {
  const path = join(directory, 'ledger.db')
  if (!existsSync(path)) copyLedger(path)
  return path
}

/** The path of the file. */
export function writeConfiguration(settings: GatewaySettings, { host = '127.0.0.1', ...ports }: Place): string {
  const { directory, mode, providers, ledger = `sqlite:${ledgerIn(directory)}`, server = {}, admin = {}, sections = {} } = settings
  const gateway = {
    server: { host, port: ports.server, shutdownDelay: 0, ...server },
    admin: { host, port: ports.admin, ...admin },
    auth: { mode },
    ledger: { url: ledger },
    limits,
    providers: Object.fromEntries(
      Object.entries(providers).map(([name, facts]) => [name, { rateLimit, extraIds: true, ...facts }]),
    ),
    routing: { providers: Object.keys(providers) },
    ...sections,
  }
  const file = join(directory, `gateway-${host}-${ports.server}.yaml`)
  const coins = Object.groupBy(Object.values(assets), ({ coin }) => coin)
  const table = Object.entries(coins).map(([coin, words]) => ({
    coin,
    name: coin,
    networks: words.map(({ network, code }) => ({ network, code })),
  }))
  writeFileSync(file, JSON.stringify(gateway))
  writeFileSync(join(directory, 'assets.yaml'), JSON.stringify(table))
  return file
}
