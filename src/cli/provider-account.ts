/** What a provider itself says of a transaction, for a command that is run beside the gateway. */
import type { Config, Provider } from '../config.ts'
import { breaking } from '../core/breaker.ts'
import type { Reader } from '../core/candidates.ts'
import type { CurrencyLists } from '../core/currency-lists.ts'
import { Fault } from '../domain/fault.ts'
import type { Answer } from '../domain/operations.ts'
import { forms } from '../forms/index.ts'
import { openCounters } from '../process/counters.ts'
import { version } from '../process/version.ts'
import { Connections, readerOf } from '../provider.ts'
import type { Form } from '../wire/form.ts'
import type { Session } from './session.ts'

export type ProviderAccount =
  | { readonly outcome: 'read'; readonly answer: Answer<'getTransaction'>; readonly naming: Reader['naming'] }
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'unreadable'; readonly why: string }

/** `id` is the provider's own. Paid for out of the provider's budget, as any call. */
export async function readAccount(tag: string, id: string, { config, stores }: Session): Promise<ProviderAccount> {
  const provider = config.providers.find((each) => each.tag === tag)
  if (!provider) return { outcome: 'unreadable', why: 'this provider is not configured any more' }
  if (config.auth.mode === 'passthrough') return { outcome: 'unreadable', why: 'only its owner has the key for it' }
  if (provider.key === '') return { outcome: 'unreadable', why: `providers.${provider.name} has no key` }
  return await ask(provider, id, config, stores.currencyLists)
}

const clock = (): number => performance.now()
const unnoticed = (): void => {}

async function ask(provider: Provider, id: string, config: Config, currencyLists: CurrencyLists): Promise<ProviderAccount> {
  await using open = new AsyncDisposableStack()
  const { budgets, close } = await openCounters(config, unnoticed)
  open.defer(close)
  const connections = new Connections()
  open.defer(() => connections.close())
  const connected = connections.connect(provider, {
    config,
    form: forms.find(({ name }) => name === provider.form) as Form,
    keyOf: () => provider.key,
    access: (next) => next,
    budgets,
    currencyLists,
    breaker: breaking,
    isOwnKey: true,
    steadyClock: clock,
    observe: unnoticed,
    version,
  })
  const { service, said, naming } = readerOf(connected, provider, clock)
  const deadline = Number.POSITIVE_INFINITY
  const context = { requestId: crypto.randomUUID(), caller: { address: '' }, client: said, deadline, isOwn: true }
  try {
    const answer = await service.call('getTransaction', { id }, context)
    return { outcome: 'read', answer, naming }
  } catch (reason) {
    const { kind, message } = Fault.from(reason)
    return kind === 'notFound' ? { outcome: 'missing' } : { outcome: 'unreadable', why: message.split(/[.;]/)[0] ?? message }
  }
}
