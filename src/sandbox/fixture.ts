/** A sandbox in memory for tests: no socket, and a clock that stands still until it is moved. */
import { hashKey } from '../adapters/crypto.ts'
import { memoryLimiter } from '../adapters/memory.ts'
import { sandboxStore } from '../adapters/sandbox.ts'
import { type Asset, AssetTable } from '../domain/asset.ts'
import { serviceForms } from '../forms/index.ts'
import type { Http, HttpResponse } from '../wire/http.ts'
import { decimal } from './decimal.ts'
import { type SandboxSettings, startSandbox } from './sandbox.ts'

function asset(coin: string, network: string, code: string, more: Partial<Asset> = {}): Asset {
  return { coin, network, code, name: `The ${coin}`, aliases: [], isDefault: true, ...more }
}

export const usdtTrx = asset('USDT', 'TRX', 'USDTTRC20', { aliases: ['TRON'], depositMin: decimal('20') })
const usdtEth = asset('USDT', 'ETH', 'USDTERC20', { isDefault: false })
export const btc = asset('BTC', 'BTC', 'BTC')
export const xrp = asset('XRP', 'XRP', 'XRP')

const assets = new AssetTable([
  { coin: 'BTC', name: btc.name, assets: [btc] },
  { coin: 'USDT', name: usdtTrx.name, assets: [usdtTrx, usdtEth] },
  { coin: 'XRP', name: xrp.name, assets: [xrp] },
])

const settings: SandboxSettings = {
  port: 0,
  data: ':memory:',
  autoDeposit: 0,
  speed: 2,
  expiry: 60,
  seed: 1,
  limits: { quotes: 60, create: 30, read: 120 },
}

export interface SandboxResponse extends HttpResponse {
  /** The body, read. */
  readonly json: Readonly<Record<string, unknown>>
}

export interface SandboxRequest {
  readonly key?: string
  /** A text is sent as it is. */
  readonly body?: object | string
  readonly type?: string
}

/** `send` sends a request with the header of the mount's form: `send('GET', '/a/api/v2/rate?…')`. `seconds` is the time since the start. */
export async function sandboxInMemory(special: Partial<SandboxSettings> = {}) {
  const time = { seconds: 0, paused: 0 }
  let handle: Http = async () => ({ status: 503, headers: {}, body: '' })
  await startSandbox({
    settings: { ...settings, ...special },
    assets,
    forms: serviceForms,
    limiter: memoryLimiter(),
    digest: hashKey,
    openStore: sandboxStore,
    clock: () => Date.parse('2030-01-01T00:00:00Z') + time.seconds * 1000,
    pause: async (milliseconds) => {
      time.paused += milliseconds
    },
    listen: async (served) => {
      handle = served
      return { port: 1, close: async () => {} }
    },
  })
  const send = async (
    method: string,
    target: string,
    { key, body, type = 'application/json' }: SandboxRequest = {},
  ): Promise<SandboxResponse> => {
    const [path = '', query = ''] = target.split('?')
    const credential = path.startsWith('/b/') ? { 'x-api-key': key } : { authorization: key && `Bearer ${key}` }
    const headers = { ...(key !== undefined && credential), ...(body && { 'content-type': type }) }
    const text = typeof body === 'string' ? body : JSON.stringify(body)
    const request = { method, path, query, headers, address: '127.0.0.1', body: async () => text }
    const response = await handle(request)
    return Object.assign(response, { json: response.body === '' ? {} : JSON.parse(response.body) })
  }
  const create = async (more: object = {}): Promise<SandboxResponse['json']> => {
    const body = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, withdrawalAddress: 'Twithdrawal', ...more }
    return (await send('POST', '/a/api/v2/transactions', { key: 'sandbox-key-1', body })).json
  }
  return { send, create, time }
}
