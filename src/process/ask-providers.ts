/** Asks providers beside the gateway, for a command or an operator: with the same configuration and budgets. */
import type { Config, Provider } from '../config/index.ts'
import { sentWords } from '../core/assets/translate-assets.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import { OtherDeposits } from '../core/creation/other-deposits.ts'
import type { ProviderReport, ResolvePorts } from '../core/operations/resolve.ts'
import type { AssignPorts } from '../core/operations/restore.ts'
import type { SettlementPorts } from '../core/operations/settle-many.ts'
import type { Ledger } from '../core/ports/ledger.ts'
import type { JudgePolicies } from '../core/provider-scope.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import { createBreaker } from '../core/resilience/breaker.ts'
import { withValue } from '../domain/context-values.ts'
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { gatewayContext } from '../domain/service.ts'
import type { SentWords } from '../domain/swap.ts'
import { providerFormNamed } from '../forms/index.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { Connections } from '../provider/connections.ts'
import { keyFor, reportedBy, transactionReader } from '../provider/readers.ts'
import { openLimitStores } from './limit-stores.ts'
import { lookup } from './name-lookup.ts'
import { version } from './version.ts'

const clock = (): number => performance.now()
const ignore = (): void => {}

/** Lists are always read from the providers, never from the ledger. */
export const freshLists: CurrencyListStore = { loadCurrencies: async () => undefined, saveCurrencies: async () => {} }

/** Registers everything that it opens in `open`, to be closed with it. */
export async function connectProviders(
  config: Config,
  currencyLists: CurrencyListStore,
  open: AsyncDisposableStack,
  observe: Observer = ignore,
): Promise<(provider: Provider) => ConnectedProvider> {
  const { budgets, close } = await openLimitStores(config, ignore)
  open.defer(close)
  const connections = new Connections(lookup)
  open.defer(() => connections.close())
  return (provider) =>
    connections.connect(provider, {
      config,
      form: providerFormNamed(provider.form),
      keyOf: (_, { op }) => keyFor(provider, op),
      access: (next) => next,
      budgets,
      currencyLists,
      breaker: createBreaker,
      usesGatewayKey: true,
      clock: () => Date.now(),
      steadyClock: clock,
      observe,
      version,
    })
}

export function providerNames({ providers }: Config): string {
  return providers.map(({ name }) => name).join(', ')
}

/** What the resolution of a create by hand needs of this configuration. */
export function resolvePorts(
  config: Config,
  { ledger, ledgerAdmin, currencyLists }: Pick<ResolvePorts, 'ledgerAdmin'> & DepositStores,
  actor: string,
): ResolvePorts {
  const configured = (tag: string): Provider | undefined => config.providers.find((provider) => provider.tag === tag)
  return {
    ledgerAdmin,
    actor,
    claimAfter: depositReader(config, { ledger, currencyLists }),
    policiesOf: (tag) => configured(tag)?.judge ?? refuseAll,
    timeoutOf: (tag) => (configured(tag)?.timeout ?? 0) * 1_000,
    readReport: (tag, id, sent) => readProviderReport(configured(tag), id, config, currencyLists, sent),
  }
}

/** Of a provider that the file lacks nothing is accepted. */
const refuseAll: JudgePolicies = {
  depositAddress: 'refuse',
  depositMemo: 'refuse',
  amount: 'refuse',
  contract: 'refuse',
  network: 'refuse',
}

interface DepositStores {
  readonly ledger: Pick<Ledger, 'depositHolder'>
  readonly currencyLists: CurrencyListStore
}

/** Reads the swap that has a deposit address once more, where the gateway has a key for it. */
function depositReader(config: Config, { ledger, currencyLists }: DepositStores): ResolvePorts['claimAfter'] {
  return async (tag, transaction) => {
    await using open = new AsyncDisposableStack()
    const connect = await connectProviders(config, currencyLists, open)
    const connected = (of: string) => {
      const provider = config.providers.find((each) => each.tag === of && each.key !== '')
      return provider && config.auth.mode === 'managed' ? { provider, ...connect(provider) } : undefined
    }
    const readerOf = (of: string) => {
      const found = connected(of)
      return found && reportedBy(found, found.provider)
    }
    const capabilities = connected(tag)?.upstream.capabilities
    const deposits = new OtherDeposits(ledger, readerOf)
    return await deposits.claimAfter(transaction, capabilities && gatewayContext(capabilities))
  }
}

/** What the settling of many needs beside. */
export function settlementPorts(
  config: Config,
  { ledgerAdmin, ...stores }: Pick<SettlementPorts, 'ledgerAdmin'> & DepositStores,
  actor: string,
): SettlementPorts {
  const timezones = new Map(config.providers.map(({ tag, timezone }) => [tag, timezone]))
  return {
    ...resolvePorts(config, { ledgerAdmin, ...stores }, actor),
    ledgerAdmin,
    timezoneOf: (tag) => timezones.get(tag),
  }
}

/** What the assignment of a found order needs. What it opens is in `open`. */
export function assignPorts(
  config: Config,
  {
    restores: store,
    ledger,
    currencyLists,
  }: { readonly ledger: AssignPorts['ledger'] & DepositStores['ledger']; readonly restores: AssignPorts['store'] } & DepositStores,
  actor: string,
  open: AsyncDisposableStack,
): AssignPorts {
  const configured = (tag: string): Provider | undefined => config.providers.find((provider) => provider.tag === tag)
  return {
    store,
    ledger,
    actor,
    claimAfter: depositReader(config, { ledger, currencyLists }),
    readReport: (tag, id) => readProviderReport(configured(tag), id, config, currencyLists),
    async readingOf(tag) {
      const provider = configured(tag)
      if (!provider) return undefined
      const connect = await connectProviders(config, currencyLists, open)
      return transactionReader(connect(provider), provider, config, clock)
    },
  }
}

/** The tag of the provider with this name; a name that the file lacks is its own tag. */
export function providerTag(name: string, { providers }: Config): string {
  return providers.find((provider) => provider.name === name)?.tag ?? name
}

/** Reads the transactions of a provider with the gateway's key; undefined if it has no list of them, or no key. What it opens is in `open`. */
export async function listReader(
  provider: Provider,
  config: Config,
  currencyLists: CurrencyListStore,
  open: AsyncDisposableStack,
): Promise<TransactionReader | undefined> {
  if (provider.key === '' || !providerFormNamed(provider.form).operation('listTransactions')) return undefined
  const connect = await connectProviders(config, currencyLists, open)
  return transactionReader(connect(provider), provider, config, clock)
}

/** The call counts against the provider's budget. */
async function readProviderReport(
  provider: Provider | undefined,
  id: string,
  config: Config,
  currencyLists: CurrencyListStore,
  sent?: SentWords,
): Promise<ProviderReport> {
  if (!provider) return { outcome: 'unreadable', why: 'this provider is no longer configured' }
  if (config.auth.mode === 'passthrough') return { outcome: 'unreadable', why: 'only its owner has the key for it' }
  if (provider.key === '') return { outcome: 'unreadable', why: `providers.${provider.name} has no key` }
  await using open = new AsyncDisposableStack()
  const connect = await connectProviders(config, currencyLists, open)
  const { service, capabilities, naming, mayBecomePayable } = transactionReader(connect(provider), provider, config, clock)
  try {
    const response = await service.call('getTransaction', { id }, withValue(gatewayContext(capabilities), sentWords, sent))
    return { outcome: 'read', response, naming, capabilities, mayBecomePayable }
  } catch (reason) {
    const { kind, message } = Fault.from(reason)
    return kind === 'notFound' ? { outcome: 'missing' } : { outcome: 'unreadable', why: message.split(/[.;]/)[0] ?? message }
  }
}
