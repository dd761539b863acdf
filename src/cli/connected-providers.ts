/** Connects a command to providers, with the same configuration and budgets as the gateway. */
import type { Config, Provider } from '../config/index.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import { createBreaker } from '../core/resilience/breaker.ts'
import type { Observer } from '../domain/observation.ts'
import type { Capabilities, Context } from '../domain/service.ts'
import { providerFormNamed } from '../forms/index.ts'
import { openLimitStores } from '../process/limit-stores.ts'
import { lookup } from '../process/name-lookup.ts'
import { version } from '../process/pages.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { Connections } from '../provider/connections.ts'
import { keyFor } from '../provider/readers.ts'

export const clock = (): number => performance.now()
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

/** The context of a call by a command. It has no deadline: the provider's own timeout applies. */
export function commandContext(clientCapabilities: Capabilities): Context {
  const requestId = crypto.randomUUID()
  return { requestId, caller: { address: '' }, clientCapabilities, deadline: Number.POSITIVE_INFINITY, isGatewayCall: true }
}

export function providerNames({ providers }: Config): string {
  return providers.map(({ name }) => name).join(', ')
}
