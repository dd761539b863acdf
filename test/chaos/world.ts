/** Gateways on one ledger between recorded clients and two providers, over networks that can fail. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { violations } from '../faults/checker.ts'
import type { Customer } from '../faults/customer.ts'
import { effectsOf } from '../faults/evidence.ts'
import { GatewayProcess } from '../faults/gateway-process.ts'
import { History } from '../faults/history.ts'
import { holdingsOf } from '../faults/holding.ts'
import type { Order } from '../faults/order.ts'
import { type Journal, readJournal } from '../faults/provider/journal.ts'
import { type Provider, startProvider } from '../faults/provider.ts'
import { FaultProxy } from '../faults/proxy.ts'
import { assets } from '../support/swaps.ts'

export interface WorldSettings {
  readonly accounts: readonly string[]
  /** How many processes. */
  readonly gateways: number
  /** Default: SQLite. */
  readonly ledger?: string
}

const providerNames = ['alpha', 'beta'] as const
type ProviderName = (typeof providerNames)[number]

export class World implements AsyncDisposable {
  readonly history = new History()
  readonly gateways: GatewayProcess[] = []
  readonly customers: Customer[] = []
  readonly providers = new Map<ProviderName, Provider>()
  readonly networks = new Map<ProviderName, FaultProxy>()
  private readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-chaos-'))
  private readonly open = new AsyncDisposableStack()
  private orders = 0

  static async start({ accounts, gateways, ledger }: WorldSettings): Promise<World> {
    const world = new World()
    await using building = new AsyncDisposableStack()
    building.use(world)
    for (const name of providerNames) await world.addProvider(name)
    const providers = Object.fromEntries(
      [...world.networks].map(([name, { url }]) => {
        const { form, keys } = (world.providers.get(name) as Provider).settings
        return [name, { form, url, key: keys[0], timeout: 0.5 }]
      }),
    )
    for (let number = 0; number < gateways; number++) {
      const settings = { directory: world.directory, mode: 'managed', providers, ...(ledger && { ledger }) } as const
      world.gateways.push(world.open.use(await GatewayProcess.start(settings)))
    }
    const [gateway] = world.gateways as [GatewayProcess]
    const keys = await Promise.all(accounts.map((account) => gateway.createKey(account)))
    for (const [number, key] of keys.entries()) {
      world.customers.push(world.history.client(accounts[number] ?? '', key, number % 2 === 0 ? 'A' : 'B'))
    }
    building.move()
    return world
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

  journals(): Readonly<Record<string, Journal>> {
    return Object.fromEntries([...this.providers].map(([name, { settings }]) => [name, readJournal(settings.journal)]))
  }

  /** How many swaps the providers hold of which the ledger knows only that they may exist. */
  async openEffects(): Promise<number> {
    const unsettled = await this.unsettled()
    const applied = effectsOf({ journals: this.journals(), operations: [] })
    return applied.filter(({ swap }) => unsettled.includes(swap.withdrawalAddress)).length
  }

  /** Reads everything that there is to read, with every key, and says what is wrong. Every gateway must be up. */
  async violations(): Promise<readonly string[]> {
    const [gateway] = this.gateways as [GatewayProcess]
    const { history, customers } = this
    // First: what the gateway finds out meanwhile is then in a list.
    const unsettled = await this.unsettled()
    const holdings = await holdingsOf(history, gateway.url, customers)
    const exported = (await gateway.command('ledger', 'export')) as readonly { id: string; owner: string }[]
    const secrets = {
      clientKeys: customers.map(({ key }) => key),
      providerKeys: Object.fromEntries([...this.providers].map(([name, { settings }]) => [name, settings.keys[0] ?? ''])),
      logs: this.gateways.map(({ output }) => output),
    }
    return violations({ journals: this.journals(), operations: history.operations, holdings, unsettled, exported, secrets })
  }

  /** Where the creates that the ledger counts as unknown, or as contradicted, were to pay out. */
  private async unsettled(): Promise<readonly string[]> {
    const unknown = await this.gateways[0]?.command('ledger', 'unknown')
    return (unknown as { asked: { withdrawalAddress: string } }[]).map(({ asked }) => asked.withdrawalAddress)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.open.disposeAsync()
    rmSync(this.directory, { recursive: true })
  }

  private async addProvider(name: ProviderName): Promise<void> {
    const journals = join(this.directory, 'journals')
    mkdirSync(journals, { recursive: true })
    const form = name === 'alpha' ? 'B' : 'A'
    const provider = await startProvider({ form, name, keys: [`${name}-secret-key`], journal: join(journals, name) })
    this.providers.set(name, this.open.use(provider))
    this.networks.set(name, this.open.use(await FaultProxy.start(provider.url)))
  }
}
