/** Reads a transaction from its provider, for a command that runs beside the gateway. */
import type { Config, Provider } from '../config/index.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import type { CurrencyListStore } from '../core/quotes/read-currency-list.ts'
import { Fault } from '../domain/fault.ts'
import type { ServiceResponse } from '../domain/service.ts'
import { transactionReader } from '../provider/readers.ts'
import { clock, commandContext, connectProviders } from './connected-providers.ts'
import type { Session } from './session.ts'

export type ProviderReport =
  | ({ readonly outcome: 'read'; readonly response: ServiceResponse<'getTransaction'> } & Pick<
      TransactionReader,
      'naming' | 'policies'
    >)
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'unreadable'; readonly why: string }

interface ReportParts {
  readonly config: Config
  readonly stores: Pick<Session['stores'], 'currencyLists'>
}

/** Reads the transaction `id` (the provider's own id). The call counts against the provider's budget. */
export async function readProviderReport(tag: string, id: string, { config, stores }: ReportParts): Promise<ProviderReport> {
  const provider = config.providers.find((each) => each.tag === tag)
  if (!provider) return { outcome: 'unreadable', why: 'this provider is no longer configured' }
  if (config.auth.mode === 'passthrough') return { outcome: 'unreadable', why: 'only its owner has the key for it' }
  if (provider.key === '') return { outcome: 'unreadable', why: `providers.${provider.name} has no key` }
  return await readFromProvider(provider, id, config, stores.currencyLists)
}

async function readFromProvider(
  provider: Provider,
  id: string,
  config: Config,
  currencyLists: CurrencyListStore,
): Promise<ProviderReport> {
  await using open = new AsyncDisposableStack()
  const connect = await connectProviders(config, currencyLists, open)
  const { service, capabilities, naming, policies } = transactionReader(connect(provider), provider, config, clock)
  const context = commandContext(capabilities)
  try {
    const response = await service.call('getTransaction', { id }, context)
    return { outcome: 'read', response, naming, policies }
  } catch (reason) {
    const { kind, message } = Fault.from(reason)
    return kind === 'notFound' ? { outcome: 'missing' } : { outcome: 'unreadable', why: message.split(/[.;]/)[0] ?? message }
  }
}
