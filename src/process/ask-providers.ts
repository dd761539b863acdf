/** Asks providers beside the gateway, for a command or an operator: with the same configuration and budgets. */
import type { Config, Provider } from '../config/index.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import type { ProviderReport, ResolvePorts } from '../core/operations/resolve.ts'
import type { AssignPorts } from '../core/operations/restore.ts'
import type { SettlementPorts } from '../core/operations/settle-many.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import { createBreaker } from '../core/resilience/breaker.ts'
import { Fault } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { gatewayContext } from '../domain/service.ts'
import { providerFormNamed } from '../forms/index.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { Connections } from '../provider/connections.ts'
import { keyFor, transactionReader } from '../provider/readers.ts'
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
  { ledgerAdmin, currencyLists }: Pick<ResolvePorts, 'ledgerAdmin'> & { readonly currencyLists: CurrencyListStore },
  actor: string,
): ResolvePorts {
  const configured = (tag: string): Provider | undefined => config.providers.find((provider) => provider.tag === tag)
  return {
    ledgerAdmin,
    actor,
    timeoutOf: (tag) => (configured(tag)?.timeout ?? 0) * 1_000,
    readReport: (tag, id) => readProviderReport(configured(tag), id, config, currencyLists),
  }
}

/** What the settling of many needs beside. */
export function settlementPorts(
  config: Config,
  { ledgerAdmin, currencyLists }: Pick<SettlementPorts, 'ledgerAdmin'> & { readonly currencyLists: CurrencyListStore },
  actor: string,
): SettlementPorts {
  const timezones = new Map(config.providers.map(({ tag, timezone }) => [tag, timezone]))
  return {
    ...resolvePorts(config, { ledgerAdmin, currencyLists }, actor),
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
  }: Pick<AssignPorts, 'ledger'> & { readonly restores: AssignPorts['store']; readonly currencyLists: CurrencyListStore },
  actor: string,
  open: AsyncDisposableStack,
): AssignPorts {
  return {
    store,
    ledger,
    actor,
    async readingOf(tag) {
      const provider = config.providers.find((each) => each.tag === tag)
      if (!provider) return undefined
      const connect = await connectProviders(config, currencyLists, open)
      return { naming: connect(provider).currencyList.naming, timezone: provider.timezone }
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
): Promise<ProviderReport> {
  if (!provider) return { outcome: 'unreadable', why: 'this provider is no longer configured' }
  if (config.auth.mode === 'passthrough') return { outcome: 'unreadable', why: 'only its owner has the key for it' }
  if (provider.key === '') return { outcome: 'unreadable', why: `providers.${provider.name} has no key` }
  await using open = new AsyncDisposableStack()
  const connect = await connectProviders(config, currencyLists, open)
  const { service, capabilities, naming, policies } = transactionReader(connect(provider), provider, config, clock)
  try {
    const response = await service.call('getTransaction', { id }, gatewayContext(capabilities))
    return { outcome: 'read', response, naming, policies }
  } catch (reason) {
    const { kind, message } = Fault.from(reason)
    return kind === 'notFound' ? { outcome: 'missing' } : { outcome: 'unreadable', why: message.split(/[.;]/)[0] ?? message }
  }
}
