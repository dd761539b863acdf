/** Gateways with issued keys on one ledger and one provider with a journal, each a process that can be replaced. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { violations } from '../checker/checker.ts'
import { ledgerIn } from '../checker/configuration.ts'
import type { Customer } from '../checker/customer.ts'
import { History } from '../checker/history.ts'
import { holdingsOf } from '../checker/holding.ts'
import type { Order } from '../checker/order.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { commandOver } from '../support/command.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { assets } from '../support/swaps.ts'
import { Swapgate } from './swapgate.ts'

export interface StartedGateway extends AsyncDisposable {
  /** Without a mount. */
  readonly url: string
  readonly adminUrl: string
  readonly process: Swapgate
}

type Sections = Readonly<Record<string, unknown>>

const providerKey = 'own-key-1'
const unlimited = { quotes: 1_000_000, create: 1_000_000, read: 1_000_000, unverified: 1_000_000 }

export class Gateways implements AsyncDisposable {
  readonly history = new History()
  readonly provider: Provider
  /** The ledger lies there, as `ledger.db`. */
  readonly directory: string
  private readonly file: string
  private readonly processes: Swapgate[] = []
  private readonly inProcess: InProcessGateway[] = []
  private orders = 0

  private constructor(provider: Provider, directory: string, sections: Sections, keys: Sections) {
    this.provider = provider
    this.directory = directory
    this.file = join(directory, 'gateway.yaml')
    const rateLimit = { quotes: 0, create: 0, read: 0 }
    const configuration = {
      server: { port: 0 },
      admin: { port: 0 },
      auth: { mode: 'managed' },
      ledger: { url: `sqlite:${ledgerIn(directory)}`, refresh: 60 },
      limits: unlimited,
      providers: { alpha: { form: 'A', url: provider.url, key: providerKey, rateLimit, extraIds: true, ...keys } },
      routing: { providers: ['alpha'] },
      ...sections,
    }
    const rows = [assets.xrp, assets.usdtEth].map(({ coin, network, code }) => ({
      coin,
      name: coin,
      networks: [{ network, code }],
    }))
    writeFileSync(this.file, JSON.stringify(configuration))
    writeFileSync(join(directory, 'assets.yaml'), JSON.stringify(rows))
  }

  /** `sections` of the configuration take the place of those above, and `keys` of the provider too. None runs yet. */
  static async prepare(sections: Sections = {}, keys: Sections = {}): Promise<Gateways> {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-gateways-'))
    const journal = join(directory, 'journal')
    const provider = await startProvider({ form: 'A', name: 'alpha', keys: [providerKey], journal })
    return new Gateways(provider, directory, sections, keys)
  }

  /** One more, listening. `program`: of another version. */
  async start(env: Record<string, string> = {}, program?: string): Promise<StartedGateway> {
    const process = new Swapgate(['start', '--config', this.file], { env, ...(program !== undefined && { program }) })
    this.processes.push(process)
    const urls = await process.urls()
    const [url = '', adminUrl = ''] = [urls.get('gateway'), urls.get('admin')]
    return { url, adminUrl, process, [Symbol.asyncDispose]: () => process[Symbol.asyncDispose]() }
  }

  /** The same in this process, where signals and memory are not looked at. */
  async startInProcess(): Promise<InProcessGateway> {
    const gateway = await InProcessGateway.start(this.file)
    this.inProcess.push(gateway)
    return gateway
  }

  /** Of all processes so far. */
  output(): string {
    return this.processes.map((process) => process.outputText()).join('')
  }

  /** A client of a new account. */
  async customer(account: string, form: 'A' | 'B'): Promise<Customer> {
    const { key } = (await this.command('keys', 'create', '--name', account)) as { readonly key: string }
    return this.history.client(account, key, form)
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

  /** Violations of what must hold after every fault, from the responses of this gateway. */
  async violations({ url }: { readonly url: string }, customers: readonly Customer[]): Promise<readonly string[]> {
    const { history, provider } = this
    const unknown = (await this.command('ledger', 'unknown')) as readonly { requested: { withdrawalAddress: string } }[]
    const holdings = await holdingsOf(history, url, customers)
    const exported = (await this.command('ledger', 'export')) as readonly { id: string; owner: string }[]
    const secrets = {
      clientKeys: customers.map(({ key }) => key),
      providerKeys: { alpha: providerKey },
      logs: [...this.processes.map((process) => process.outputText()), ...this.inProcess.map(({ output }) => output)],
    }
    return violations({
      journals: { alpha: readJournal(provider.settings.journal) },
      operations: history.operations,
      holdings,
      unresolvedAddresses: unknown.map(({ requested }) => requested.withdrawalAddress),
      exported,
      secrets,
    })
  }

  /** A command of `swapgate`, and the JSON document that it prints. */
  command(...args: readonly string[]): Promise<unknown> {
    return commandOver(this.file, args)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.processes, ...this.inProcess].map((gateway) => gateway[Symbol.asyncDispose]()))
    await this.provider[Symbol.asyncDispose]()
    rmSync(this.directory, { recursive: true })
  }
}
