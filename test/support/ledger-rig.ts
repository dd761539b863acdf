/** A gateway with issued keys in a process of its own, before one provider with a journal, its ledger in a directory of its own. */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { violations } from '../checker/checker.ts'
import type { GatewaySettings } from '../checker/configuration.ts'
import type { Customer } from '../checker/customer.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { History } from '../checker/history.ts'
import { holdingsOf } from '../checker/holding.ts'
import type { Order } from '../checker/order.ts'
import { type Journal, readJournal } from '../checker/provider/journal.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { diskDirectory } from './memory-directory.ts'
import { assets } from './swaps.ts'

export interface LedgerRig extends AsyncDisposable {
  readonly directory: string
  /** The ledger's file. */
  readonly file: string
  readonly gateway: GatewayProcess
  readonly provider: Provider
  readonly history: History
  /** A client of an account of its own. */
  readonly customer: Customer
  readonly journal: () => Journal
  /** How many creates reached the provider. */
  readonly received: () => number
  readonly adminUrl: string
  readonly order: (facts?: Partial<Order>) => Order
  /** The checker's violations so far. The gateway must be up. */
  readonly violations: () => Promise<readonly string[]>
}

interface RigSettings {
  /** Called before the gateway starts; what it returns is called in the end. */
  readonly prepare?: (directory: string) => () => void
  /** Between the gateway and the provider. */
  readonly url?: (provider: string) => string
  readonly sections?: GatewaySettings['sections']
}

const key = 'own-key-1'
let orders = 0

export async function startLedgerRig({
  prepare = () => () => {},
  url = (own) => own,
  sections,
}: RigSettings = {}): Promise<LedgerRig> {
  const directory = mkdtempSync(join(diskDirectory(), 'swapgate-ledger-'))
  const journals = mkdtempSync(join(tmpdir(), 'swapgate-journal-'))
  const journal = join(journals, 'alpha')
  const undo = prepare(directory)
  const provider = await startProvider({ form: 'A', name: 'alpha', keys: [key], journal })
  const alpha = { form: 'A', url: url(provider.url), key, timeout: 2 } as const
  const gateway = await GatewayProcess.start({ directory, mode: 'managed', providers: { alpha }, ...(sections && { sections }) })
  const history = new History()
  const customer = history.client('acme', await gateway.createKey('acme'), 'A')
  const read = (): Journal => readJournal(journal)
  return {
    directory,
    file: join(directory, 'ledger.db'),
    gateway,
    provider,
    history,
    customer,
    journal: read,
    received: () => read().filter((entry) => entry.what === 'received' && entry.operation === 'create').length,
    adminUrl: `http://127.0.0.1:${adminPort(directory)}`,
    order: (facts = {}) => ({
      from: assets.xrp,
      to: assets.usdtEth,
      amount: '1.5',
      withdrawalAddress: `0xWithdraw${++orders}`,
      rateType: 'float',
      ...facts,
    }),
    async violations() {
      const unresolvedCreates = (await gateway.command('ledger', 'unknown')) as readonly {
        requested: { withdrawalAddress: string }
      }[]
      const unresolvedAddresses = unresolvedCreates.map(({ requested }) => requested.withdrawalAddress)
      const holdings = await holdingsOf(history, gateway.url, [customer])
      const exported = (await gateway.command('ledger', 'export')) as readonly { id: string; owner: string }[]
      const secrets = { clientKeys: [customer.key], providerKeys: { alpha: key }, logs: [gateway.output] }
      return violations({
        journals: { alpha: read() },
        operations: history.operations,
        holdings,
        unresolvedAddresses,
        exported,
        secrets,
      })
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await provider[Symbol.asyncDispose]()
      undo()
      for (const place of [directory, journals]) rmSync(place, { recursive: true })
    },
  }
}

function adminPort(directory: string): number {
  const name = readdirSync(directory).find((file) => /^gateway-.*\.yaml$/.test(file)) ?? ''
  const { admin } = JSON.parse(readFileSync(join(directory, name), 'utf8')) as { admin: { port: number } }
  return admin.port
}
