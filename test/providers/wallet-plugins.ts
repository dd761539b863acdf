/** The npm package `edge-exchange-plugins`, unmodified: a wallet's real integrations, installed apart from the packages of this project. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { diskDirectory } from '../support/memory-directory.ts'

const packages = ['edge-exchange-plugins@2.55.0', 'edge-core-js@2.48.1']
/** Kept between runs: the installation takes half a minute. */
const directory = join(diskDirectory(), `swapgate-${packages.join('-')}`)

/** An amount in the smallest unit. */
interface SwapRequest {
  readonly fromWallet: object
  readonly toWallet: object
  readonly fromTokenId: string | null
  readonly toTokenId: string | null
  readonly nativeAmount: string
  readonly quoteFor: 'from' | 'to'
}

export interface SwapQuote {
  readonly fromNativeAmount: string
  readonly toNativeAmount: string
  readonly approve: () => Promise<{ readonly orderId: string; readonly destinationAddress: string; readonly transaction: Spend }>
}

export interface Spend {
  readonly spendTargets: readonly { readonly publicAddress: string; readonly nativeAmount: string }[]
  readonly memos: readonly { readonly value: string }[]
}

interface Plugin {
  /** Creates, too: the quote is an order. */
  readonly fetchSwapQuote: (request: SwapRequest, settings: undefined, options: object) => Promise<SwapQuote>
}

export interface PluginOptions {
  /** Where the plugin believes it is, and where its requests go. */
  readonly origin: string
  readonly url: string
  readonly initOptions: Readonly<Record<string, string>>
  /** As a proxy in front of the URL reports it. */
  readonly clientAddress?: string
}

export function walletPlugin(name: string, { origin, url, initOptions, clientAddress }: PluginOptions): Plugin {
  install()
  const load = createRequire(join(directory, 'package.json'))
  const { default: plugins } = load('edge-exchange-plugins') as {
    readonly default: Readonly<Record<string, (options: object) => Plugin>>
  }
  const make = plugins[name]
  if (!make) throw new Error(`edge-exchange-plugins has no ${name}`)
  const fetchThere = (target: string, options?: RequestInit): Promise<Response> => {
    if (!target.startsWith(origin)) throw new Error(`${name} calls ${target}`)
    const headers = { ...options?.headers, ...(clientAddress !== undefined && { 'x-forwarded-for': clientAddress }) }
    return fetch(url + target.slice(origin.length), { ...options, headers })
  }
  const log = Object.assign(() => {}, { warn: () => {}, error: () => {} })
  return make({ io: { fetch: fetchThere, fetchCors: fetchThere }, log, initOptions })
}

function install(): void {
  if (existsSync(directory)) return
  const started = mkdtempSync(`${directory}-`)
  writeFileSync(join(started, 'package.json'), '{}')
  const args = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', ...packages]
  execFileSync('npm', args, { cwd: started, stdio: ['ignore', 'ignore', 'pipe'], timeout: 150_000 })
  try {
    renameSync(started, directory)
  } catch {
    rmSync(started, { recursive: true }) // another test was first
  }
}

const tether = 'dac17f958d2ee523a2206206994597c13d831ec7'

/** A wallet on one chain. A payment that it makes is the order itself. */
function wallet(pluginId: string, currencyCode: string, multiplier: string, publicAddress: string): object {
  const denominations = [{ name: currencyCode, multiplier }]
  const usdt = { currencyCode: 'USDT', denominations: [{ name: 'USDT', multiplier: '1000000' }] }
  return {
    id: `wallet-${pluginId}`,
    currencyInfo: { pluginId, currencyCode, denominations },
    currencyConfig: {
      allTokens: { [tether]: usdt },
      getTokenId: async ({ networkLocation }: { readonly networkLocation: { readonly contractAddress: string } }) =>
        networkLocation.contractAddress.toLowerCase().replace(/^0x/, ''),
    },
    balanceMap: new Map(),
    getAddresses: async () => [{ addressType: 'publicAddress', publicAddress }],
    makeSpend: async (spend: object) => ({ ...spend, networkFee: '0' }),
    signTx: async (transaction: object) => transaction,
    broadcastTx: async (transaction: object) => transaction,
    saveTx: async () => {},
    saveTxAction: async () => {},
  }
}

export const walletAddress = '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C'
const ethereum = wallet('ethereum', 'ETH', '1000000000000000000', walletAddress)

/** From ETH to exactly this amount of USDT on Ethereum, of at most 6 decimals. */
export function etherToExactTether(amount: number): SwapRequest {
  return { ...etherToTether(0), nativeAmount: String(Math.round(amount * 1_000_000)), quoteFor: 'to' }
}

/** From ETH to USDT on Ethereum; `amount` in ETH has at most 6 decimals. */
export function etherToTether(amount: number): SwapRequest {
  const nativeAmount = String(BigInt(Math.round(amount * 1_000_000)) * 1_000_000_000_000n)
  return { fromWallet: ethereum, toWallet: ethereum, fromTokenId: null, toTokenId: tether, nativeAmount, quoteFor: 'from' }
}
