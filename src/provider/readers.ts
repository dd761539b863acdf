/** A connected provider without the clients: what the gateway reads for itself. */
import type { Provider } from '../config/index.ts'
import type { AssetNaming } from '../core/assets/asset-naming.ts'
import { requireDepositMemo } from '../core/assets/require-deposit-memo.ts'
import { translateAssets } from '../core/assets/translate-assets.ts'
import type { TransactionReader } from '../core/creation/reconciliation/match-candidates.ts'
import { compose, type Layer } from '../core/layer.ts'
import { ownReadLimit } from '../core/resilience/budget/own-read-limit.ts'
import { deadline } from '../core/resilience/deadline.ts'
import { deriveFields } from '../core/transactions/derive-fields.ts'
import type { Op } from '../domain/swap/operations.ts'
import type { SwapService } from '../domain/swap/service.ts'
import type { ConnectedProvider } from './connected-provider.ts'

/** Reads a provider's transactions for reconciliation, within the limit on own reads. */
export function transactionReader(connected: ConnectedProvider, provider: Provider, clock: () => number): TransactionReader {
  const { capabilities, catalogue } = connected
  const limited = compose([ownReadLimit({ limit: provider.budget.read, clock })], reportedBy(connected, provider))
  const { isListRefused } = connected
  return { service: limited, capabilities, naming: catalogue.naming, timezone: provider.timezone, isListRefused }
}

/** Reads a provider's transactions as it reports them, with the table's asset names. */
export function reportedBy({ service, capabilities, catalogue, timeoutMs }: ConnectedProvider, provider: Provider): SwapService {
  const layers = [
    deadline(timeoutMs),
    deriveFields(capabilities),
    translateAssets(catalogue, false),
    requireDepositMemos(provider, catalogue.naming),
  ]
  return compose(layers, service)
}

/** On networks with shared deposit addresses: no deposit address without its memo. */
export function requireDepositMemos({ depositMemo: networks, extraIds }: Provider, naming: AssetNaming): Layer {
  return requireDepositMemo({ networks, acceptsMemos: extraIds !== false, naming })
}

/** The gateway's key for a call of the operation. */
export function keyFor({ key, listKey }: Provider, op: Op): string {
  return op === 'listTransactions' && listKey !== '' ? listKey : key
}
