/** Gateways on one ledger between recorded clients and two providers, over networks that can fail. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { violations } from '../checker/checker.ts'
import type { Customer } from '../checker/customer.ts'
import { effectsOf } from '../checker/evidence.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { History } from '../checker/history.ts'
import { holdingsOf } from '../checker/holding.ts'
import type { Order } from '../checker/order.ts'
import { type Journal, readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { FaultProxy } from '../checker/proxy.ts'
import { assets } from '../support/swaps.ts'

export interface WorldSettings {
  readonly accounts: readonly string[]
  /** How many processes. */
  readonly gateways: number
  /** Default: SQLite. */
  readonly ledger?: string
}

/** A provider, and the network before it. */
export interface Site {
  readonly provider: Provider
  readonly network: FaultProxy
}

/** Creates go to alpha, which speaks Form B; to beta, which speaks Form A, where alpha cannot be reached. */
export type SiteName = 'alpha' | 'beta'

export class World implements AsyncDisposable {
  readonly history = new History()
  readonly sites: Readonly<Record<SiteName, Site>>
  readonly gateways: readonly GatewayProcess[]
  readonly customers: readonly Customer[]
  private readonly open: AsyncDisposable
  private orders = 0

  private constructor(
    sites: Record<SiteName, Site>,
    gateways: readonly GatewayProcess[],
    keys: readonly [account: string, key: string][],
    open: AsyncDisposable,
  ) {
    this.sites = sites
    this.gateways = gateways
    this.customers = keys.map(([account, key], at) => this.history.client(account, key, at % 2 === 0 ? 'A' : 'B'))
    this.open = open
  }

  static async start({ accounts, gateways: count, ledger }: WorldSettings): Promise<World> {
    await using open = new AsyncDisposableStack()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-chaos-'))
    open.defer(() => rmSync(directory, { recursive: true }))
    const sites = { alpha: await startSite('alpha', 'B', directory, open), beta: await startSite('beta', 'A', directory, open) }
    const settings = { directory, mode: 'managed', providers: providersOf(sites), ...(ledger && { ledger }) } as const
    const gateways: GatewayProcess[] = []
    while (gateways.length < count) gateways.push(open.use(await GatewayProcess.start(settings)))
    const [gateway] = gateways as [GatewayProcess]
    const keys = await Promise.all(accounts.map(async (account) => [account, await gateway.createKey(account)] as [string, string]))
    return new World(sites, gateways, keys, open.move())
  }

  /** Another one each time. */
  order(): Order {
    const number = ++this.orders
    return {
      from: number % 3 === 0 ? assets.xrp : assets.btc,
      to: number % 2 === 0 ? assets.usdtTrx : assets.usdtEth,
      amount: `0.${number}`,
      withdrawalAddress: `withdraw-${number}`,
      ...(number % 4 === 0 && { refundAddress: `refund-${number}` }),
      rateType: 'float',
    }
  }

  journals(): Readonly<Record<SiteName, Journal>> {
    const { alpha, beta } = this.sites
    return { alpha: readJournal(alpha.provider.settings.journal), beta: readJournal(beta.provider.settings.journal) }
  }

  /** How many swaps the providers hold of which the ledger has only an unresolved create. */
  async openEffects(): Promise<number> {
    const unresolvedAddresses = new Set(await this.unresolvedAddresses())
    const applied = effectsOf({ journals: this.journals(), operations: [] })
    return applied.filter(({ swap }) => unresolvedAddresses.has(swap.withdrawalAddress)).length
  }

  /** Reads everything with every key, and returns the violations. The first gateway must be up. */
  async violations(): Promise<readonly string[]> {
    const [gateway] = this.gateways as [GatewayProcess]
    const { history, customers } = this
    // First: what the gateway finds out meanwhile is then in a list.
    const unresolvedAddresses = await this.unresolvedAddresses()
    const holdings = await holdingsOf(history, gateway.url, customers)
    const exported = (await gateway.command('ledger', 'export')) as readonly { id: string; owner: string }[]
    const secrets = {
      clientKeys: customers.map(({ key }) => key),
      providerKeys: { alpha: keyOf('alpha'), beta: keyOf('beta') },
      logs: this.gateways.map(({ output }) => output),
    }
    return violations({
      journals: this.journals(),
      operations: history.operations,
      holdings,
      unresolvedAddresses,
      exported,
      secrets,
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.open[Symbol.asyncDispose]()
  }

  /** Where the creates that the ledger counts as unknown, or as contradicted, were to pay out. */
  private async unresolvedAddresses(): Promise<readonly string[]> {
    const unknown = await this.gateways[0]?.command('ledger', 'unknown')
    return (unknown as { requested: { withdrawalAddress: string } }[]).map(({ requested }) => requested.withdrawalAddress)
  }
}

async function startSite(name: SiteName, form: 'A' | 'B', directory: string, open: AsyncDisposableStack): Promise<Site> {
  const journal = join(directory, `${name}.journal`)
  const provider = open.use(await startProvider({ form, name, keys: [keyOf(name)], journal }))
  return { provider, network: open.use(await FaultProxy.start(provider.url)) }
}

/** In seconds; short, since many faults are a missing response. */
const timeout = 0.5

function providersOf(sites: Readonly<Record<SiteName, Site>>) {
  const facts = Object.entries(sites).map(([name, { provider, network }]) => {
    const [key] = provider.settings.keys
    return [name, { form: provider.settings.form, url: network.url, key, timeout }] as const
  })
  return Object.fromEntries(facts)
}

function keyOf(name: SiteName): string {
  return `${name}-secret-key`
}
