/** Three gateways with issued keys, each with its own provider, and a Prometheus that scrapes them all. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Customer } from '../checker/customer.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { History } from '../checker/history.ts'
import type { Order } from '../checker/order.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { FaultProxy } from '../checker/proxy.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { startPostgres } from '../support/postgres.ts'
import { RedisServer } from '../support/redis.ts'
import { assets } from '../support/swaps.ts'

/** A gateway, what stands behind it, and its clients. */
export interface Site {
  readonly directory: string
  readonly provider: Provider
  /** Between the gateway and the provider. */
  readonly network: FaultProxy
  readonly gateway: GatewayProcess
  /** The candidate of its mirror. */
  readonly candidate?: Provider | undefined
  readonly customers: readonly [inFormA: Customer, inFormB: Customer]
}

interface SiteFacts {
  readonly name: string
  readonly form: 'A' | 'B'
  readonly rateLimit?: Readonly<Record<string, number>>
  readonly ledger?: string
  /** Whether its quotes are repeated at a second provider. */
  readonly hasMirror?: boolean
  readonly sections?: Readonly<Record<string, unknown>>
  readonly nodeOptions?: string
  /** What the gateway calls instead of the network before the provider, at this URL. */
  readonly inFront?: (url: string) => Promise<string>
}

const unlimited = { quotes: 100_000, create: 100_000, read: 200, unverified: 100_000 }

export class World implements AsyncDisposable {
  /** PostgreSQL and Redis. */
  readonly alpha: Site
  /** SQLite, and a budget for quotes. */
  readonly beta: Site
  /** SQLite; it has no traffic. */
  readonly gamma: Site
  readonly redis: RedisServer
  readonly ledgerUrl: string
  private readonly open: AsyncDisposableStack
  private orders = 0

  private constructor(
    sites: Record<'alpha' | 'beta' | 'gamma', Site>,
    stores: { redis: RedisServer; ledgerUrl: string },
    open: AsyncDisposableStack,
  ) {
    this.alpha = sites.alpha
    this.beta = sites.beta
    this.gamma = sites.gamma
    this.redis = stores.redis
    this.ledgerUrl = stores.ledgerUrl
    this.open = open
  }

  /** `owner`: the process with which PostgreSQL ends; that of the tests unless given. */
  static async start(owner?: number): Promise<World> {
    await using open = new AsyncDisposableStack()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-dashboards-'))
    open.defer(async () => rmSync(directory, { recursive: true }))
    const redis = open.use(await RedisServer.start())
    const postgres = await startPostgres(owner)
    open.defer(() => postgres.close())
    const ledgerUrl = await postgres.createLedger()
    const build = (facts: SiteFacts): Promise<Site> => startSite(directory, facts, open)
    const sections = { redis: { url: redis.url } }
    const alpha = await build({ name: 'alpha', form: 'A', ledger: ledgerUrl, hasMirror: true, sections })
    const beta = await build({ name: 'beta', form: 'B', rateLimit: { quotes: 40, create: 0, read: 0 } })
    const gamma = await build({ name: 'gamma', form: 'B' })
    return new World({ alpha, beta, gamma }, { redis, ledgerUrl }, open.move())
  }

  get sites(): readonly Site[] {
    return [this.alpha, this.beta, this.gamma]
  }

  /** Another one each time. */
  order(): Order {
    const number = ++this.orders
    return {
      from: assets.xrp,
      to: assets.usdtEth,
      amount: `1.${number}`,
      withdrawalAddress: `0xWithdraw${number}`,
      rateType: 'float',
    }
  }

  /** An amount of its own, so that no cache serves it. */
  quote({ gateway }: Site): Promise<ReceivedResponse> {
    return sendRequest(gateway.url, { path: `/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=2.${++this.orders}` })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.open.disposeAsync()
  }
}

/** A gateway with a provider of its own. All that it starts is registered in `open`. */
export async function startSite(parent: string, facts: SiteFacts, open: AsyncDisposableStack): Promise<Site> {
  const { name, form, rateLimit = { quotes: 0, create: 0, read: 0 }, ledger, sections } = facts
  const directory = join(parent, name)
  mkdirSync(directory)
  const key = `own-key-of-${name}`
  const provider = open.use(await startProvider({ form, name, keys: [key], journal: join(directory, 'journal') }))
  const network = open.use(await FaultProxy.start(provider.url))
  const url = (await facts.inFront?.(network.url)) ?? network.url
  const candidate = facts.hasMirror ? await startCandidate(directory, open) : undefined
  const gateway = open.use(
    await GatewayProcess.start({
      directory,
      mode: 'managed',
      admin: { tokens: { alice: 'operator-token-of-alice-0123456789' } },
      providers: {
        [name]: { form, url, key, rateLimit, extraIds: true, statuses: { failed: 'failed' } },
        ...(candidate && { candidate: settingsOf(candidate) }),
      },
      ...(ledger !== undefined && { ledger }),
      ...(facts.nodeOptions !== undefined && { nodeOptions: facts.nodeOptions }),
      sections: {
        limits: unlimited,
        ...(candidate && { routing: { providers: [name], mirror: { provider: 'candidate', sample: 1 } } }),
        ledger: { url: ledger ?? `sqlite:${join(directory, 'ledger.db')}`, refresh: 1 },
        ...sections,
      },
    }),
  )
  const history = new History()
  const [acme, globex] = await Promise.all(['acme', 'globex'].map((account) => gateway.createKey(account)))
  const customers = [history.client('acme', acme ?? '', 'A'), history.client('globex', globex ?? '', 'B')] as const
  return { directory, provider, network, gateway, candidate, customers }
}

/** A provider that gets no swaps. */
async function startCandidate(directory: string, open: AsyncDisposableStack): Promise<Provider> {
  const journal = join(directory, 'candidate-journal')
  return open.use(await startProvider({ form: 'B', name: 'candidate', keys: ['own-key-of-candidate'], journal }))
}

function settingsOf({ url, settings: { form, keys } }: Provider) {
  return { form, url, key: keys[0], rateLimit: { quotes: 0, create: 0, read: 0 } }
}
