/** What webhooks are told of a change, in the form of each. */

import type { EncodeChange } from '../core/ports/webhooks.ts'
import { presented } from '../core/transactions/merge-transaction.ts'
import { mayShowDeposit, withoutDeposit } from '../core/visible-state.ts'
import type { AssetTable } from '../domain/asset.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { formNamed } from '../forms/index.ts'

/** The body is what a get returned then, but without the deposit address of a swap that must not be paid any more, or is in doubt since then. */
export function changeEncoder(table: AssetTable): EncodeChange {
  const nameOf = (coin: string | undefined): string | undefined => (coin === undefined ? undefined : table.coin(coin)?.name)
  return ({ at, entry, latest }, formName) => {
    const form = formNamed(formName)
    const isPayable = mayShowDeposit(entry, latest)
    const { body } = presented(entry, { clientCapabilities: form.capabilities })
    const transaction = {
      ...(isPayable ? body : withoutDeposit(body)),
      id: formatTransactionId(entry.provider, entry.transaction.id),
      coinNameFrom: nameOf(body.coinFrom),
      coinNameTo: nameOf(body.coinTo),
    }
    const data = form.operations.getTransaction.responseCodec.encode(transaction, new Set())
    return { body: `{"type":"transaction.updated","timestamp":"${new Date(at).toISOString()}","data":${data}}`, isPayable }
  }
}
