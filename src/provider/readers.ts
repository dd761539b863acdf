/** A connected provider without the clients: what the gateway reads for itself. */
import type { Config, Provider } from '../config/index.ts'
import type { CachedCurrencyList } from '../core/assets/currency-list.ts'
import { omitImpossibleDeposits, requireDepositMemo, sharedDeposits } from '../core/assets/deposits.ts'
import { refuseUnknownWords, sentWords, translateAssets } from '../core/assets/translate-assets.ts'
import type { TransactionReader } from '../core/creation/match-create.ts'
import { mayBecomePayable } from '../core/creation/payable.ts'
import { compose, deadline, type Layer, mapResponses } from '../core/layer.ts'
import type { ConfiguredProvider } from '../core/provider-scope.ts'
import { ownReadLimit } from '../core/resilience/budget-limit.ts'
import { maxSkewMs } from '../core/same-swap.ts'
import { deriveFields } from '../core/transactions/derive-fields.ts'
import { valueIn } from '../domain/context-values.ts'
import type { Op, SwapService } from '../domain/service.ts'
import { type ConnectedProvider, destinationOf } from './connected-provider.ts'

/** Reads a provider's transactions for reconciliation, within the limit on own reads. A get of a create throws 503 while it may be of another token. */
export function transactionReader(
  connected: ConnectedProvider,
  provider: Provider,
  config: Pick<Config, 'auth'>,
  clock: () => number,
): TransactionReader {
  const { upstream, currencyList, isListRefused, clockSkewMs } = connected
  const ofKnownWords = mapResponses({
    getTransaction(response, _, context) {
      refuseUnknownWords(response.body, valueIn(context, sentWords), currencyList)
      return response
    },
  })
  const limited = compose([ofKnownWords, ownReadLimit(provider.rateLimit.read, clock)], reportedBy(connected, provider))
  const destination = destinationOf(provider, config)
  return {
    service: limited,
    capabilities: upstream.capabilities,
    naming: currencyList.naming,
    timezone: provider.timezone,
    // A clock that is further off proves nothing.
    clockSkewMs: () => Math.max(-maxSkewMs, Math.min(maxSkewMs, clockSkewMs())),
    isListRefused,
    destination,
    mayBecomePayable: mayBecomePayable(provider, currencyList),
    policies: provider.judge,
  }
}

/** Reads a provider's transactions as it reports them, with the table's asset names. */
export function reportedBy({ service, upstream, currencyList }: ConnectedProvider, provider: Provider): SwapService {
  const layers = [
    deadline(upstream.timeoutMs),
    deriveFields(upstream.capabilities),
    translateAssets(currencyList, false),
    safeDeposits(provider, currencyList),
  ]
  return compose(layers, service)
}

/**
 * No deposit address that cannot be one, and none without its memo on networks with shared deposit addresses, unless
 * `providers.<name>.judge` only counts that.
 */
export function safeDeposits(
  { depositMemo, extraIds, addresses, judge }: ConfiguredProvider,
  currencyList: CachedCurrencyList,
): Layer {
  const { naming } = currencyList
  const requireMemo = requireDepositMemo({
    shared: sharedDeposits(depositMemo, currencyList),
    acceptsMemos: extraIds !== false,
    showsWithoutMemo: judge.depositMemo === 'count',
    naming,
  })
  if (judge.depositAddress === 'count') return requireMemo
  return (service) => compose([omitImpossibleDeposits(naming, addresses === 'checked'), requireMemo], service)
}

/** The gateway's key for a call of the operation. */
export function keyFor({ key, listKey }: Provider, op: Op): string {
  return op === 'listTransactions' && listKey !== '' ? listKey : key
}
