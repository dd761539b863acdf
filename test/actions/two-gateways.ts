/** Two gateways, each in a process of its own, on one ledger, before stand-ins of the providers that can do something about a swap. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import pg from 'pg'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { FaultProxy } from '../checker/proxy.ts'
import { configured, documented } from '../providers/documented.ts'
import { addresses, assets, clientAddress } from '../providers/rig.ts'
import { type RunningExchange, type Swap, startExchange } from '../providers/stand-ins/exchange.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { credential, pairWords } from '../support/pair.ts'

export type ActingProvider = 'changenow' | 'sideshift'

export interface BegunSwap {
  /** For clients. */
  readonly id: string
  readonly at: ActingProvider
  /** As the provider holds it. */
  readonly swap: Swap
}

export interface TwoGateways extends AsyncDisposable {
  readonly gateways: readonly [GatewayProcess, GatewayProcess]
  readonly exchanges: Readonly<Record<ActingProvider, RunningExchange>>
  /** In front of the exchanges. */
  readonly proxies: Readonly<Record<ActingProvider, FaultProxy>>
  /** A swap of the account `acme`; without a refund address unless it is given. */
  readonly begin: (at: ActingProvider, facts?: object) => Promise<BegunSwap>
  /** Of its owner. Undefined if the gateway ended before it responded. */
  readonly act: (swap: BegunSwap, action: string, body?: object, gateway?: GatewayProcess) => Promise<ReceivedResponse | undefined>
  /** As its owner reads it. */
  readonly read: (swap: BegunSwap) => Promise<ReceivedResponse>
  /** Of an operator, on the admin port. */
  readonly force: (swap: BegunSwap, action: string, body?: object) => Promise<ReceivedResponse>
  /** The time comes at which actions of unknown outcome are to be looked for; `isOver`: and to be left to a person. */
  readonly age: (isOver?: boolean) => Promise<void>
}

export const operatorToken = 'operator-token-of-alice-0123456789'

/** `ledger`: default: SQLite. */
export async function startTwoGateways(ledger?: string): Promise<TwoGateways> {
  const open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-actions-'))
  open.defer(() => rmSync(directory, { recursive: true }))
  const providers: Record<string, { readonly form: string; readonly url: string }> = {}
  const startProvider = async (name: ActingProvider, firstNumber: number) => {
    const facts = documented[name]
    const exchange = await startExchange(facts.dialect, firstNumber)
    exchange.key = facts.key
    open.defer(exchange.end)
    const proxy = open.use(await FaultProxy.start(exchange.url))
    providers[name] = { form: name, url: proxy.url, timeout: 4, ...configured(facts) } as { form: string; url: string }
    return { exchange, proxy }
  }
  const changenow = await startProvider('changenow', 0)
  const sideshift = await startProvider('sideshift', 10_000)
  const settings = {
    directory,
    mode: 'managed' as const,
    ...(ledger !== undefined && { ledger }),
    server: { trustProxy: 1 },
    admin: { tokens: { alice: operatorToken } },
    providers,
    sections: {
      assets: join(process.cwd(), 'config/assets.yaml'),
      routing: { providers: Object.keys(providers), pick: Object.keys(providers) },
    },
  }
  const gateways = [open.use(await GatewayProcess.start(settings)), open.use(await GatewayProcess.start(settings))] as const
  const [first, second] = gateways
  const key = await first.createKey('acme')
  const headers = { ...credential('A', key), 'content-type': 'application/json', 'x-forwarded-for': clientAddress }
  const exchanges = { changenow: changenow.exchange, sideshift: sideshift.exchange }
  return {
    gateways,
    exchanges,
    proxies: { changenow: changenow.proxy, sideshift: sideshift.proxy },
    async begin(at, facts = {}) {
      const body = {
        ...{ ...pairWords('A', assets.eth, assets.usdtEth), amount: 0.1, rateType: 'fixed', withdrawalAddress: addresses.ETH },
        ...facts,
      }
      const { json, text } = await sendRequest(first.url, {
        ...{ method: 'POST', path: '/a/api/v2/transactions', body: JSON.stringify(body) },
        headers: { ...headers, 'x-swap-provider': at },
      })
      const { id } = json as { readonly id?: string }
      const swap = exchanges[at].swaps.at(-1)
      if (id === undefined || !swap) throw new Error(text)
      return { id, at, swap }
    },
    act({ id }, action, body = {}, { url } = second) {
      const path = `/a/api/v2/transactions/${id}/${action}`
      return sendRequest(url, { method: 'POST', path, headers, body: JSON.stringify(body) }).catch(() => undefined)
    },
    read: ({ id }) => sendRequest(second.url, { path: `/a/api/v2/transactions/${id}`, headers }),
    force({ id }, action, body = {}) {
      const by = { authorization: `Bearer ${operatorToken}`, 'content-type': 'application/json' }
      const forced = JSON.stringify({ ...body, note: 'the provider has not got it', force: true })
      return sendRequest(second.adminUrl, { method: 'POST', path: `/api/transactions/${id}/${action}`, headers: by, body: forced })
    },
    age: (isOver = false) =>
      execute(
        ledger ?? join(directory, 'ledger.db'),
        `UPDATE swap_actions SET next_check_at = 1${isOver ? ', claimed_at = 1' : ''} WHERE next_check_at IS NOT NULL`,
      ),
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  }
}

async function execute(ledger: string, statement: string): Promise<void> {
  if (!ledger.startsWith('postgres')) {
    using database = new DatabaseSync(ledger, { timeout: 2_000 })
    database.exec(statement)
    return
  }
  const client = new pg.Client({ connectionString: ledger })
  await client.connect()
  await client.query(statement)
  await client.end()
}
