/**
 * The first deposit address of a create that was bound without one: a person has bound it unread, or before its provider showed one. It is
 * judged as a response is, at the first get that has it (docs/contract.md §10.3).
 */
import { Fault } from '../../domain/fault.ts'
import { gatewayContext } from '../../domain/service.ts'
import { pickAssetFields } from '../assets/asset-naming.ts'
import type { Ledger, LedgerEntry } from '../ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { compareAll, otherTokensThanSent } from '../same-swap.ts'
import type { ObservedTransaction } from '../transactions/merge-transaction.ts'
import { type OtherDeposits, takingDeposit } from './other-deposits.ts'
import { contradictionIn, mayBecomePayable } from './payable.ts'

/** The report with what was said of its deposit address; the report itself where there is nothing to say. Throws if the ledger fails. */
export type JudgeFirstDeposit = (entry: LedgerEntry | undefined, observed: ObservedTransaction) => Promise<ObservedTransaction>

type Judging = Pick<ProviderScope, 'tag' | 'configured' | 'currencyList' | 'capabilities'> & {
  readonly ledger: Pick<Ledger, 'boundCreate' | 'takeDeposit'>
}

export function judgeFirstDeposit(
  { tag, configured, currencyList, capabilities, ledger }: Judging,
  otherDeposits: OtherDeposits,
): JudgeFirstDeposit {
  const judge = mayBecomePayable(configured, currencyList)
  const { naming } = currencyList
  const isPayable = async ({ reported, derived }: ObservedTransaction): Promise<boolean> => {
    const create = await ledger.boundCreate(tag, reported.id)
    if (!create) return false
    const { requested, quote } = create
    const { contradicted } = compareAll([reported], create, naming)
    const differing = [...contradicted, ...otherTokensThanSent(reported, create, naming)].map(contradictionIn)
    const report = {
      transaction: reported,
      contradicted: differing,
      derived,
      isFound: true,
      mayLackPrice: !capabilities.hasExpectedAmount,
    }
    const context = gatewayContext(capabilities)
    const { refused } = await judge({ requested, pair: pickAssetFields(requested), quote }, report, context)
    if (refused.length > 0) return false
    const outcome = await takingDeposit(
      (claim) => ledger.takeDeposit(tag, reported, claim),
      () => otherDeposits.claimAfter(reported, context),
    )
    if (outcome !== 'depositTaken') return true
    if (configured.judge.depositAddress !== 'count') return false
    await ledger.takeDeposit(tag, reported, { isShared: true })
    return true
  }
  return async (entry, observed) => {
    const isFirst = entry?.isCreated && !entry.transaction.depositAddress && Boolean(observed.reported.depositAddress)
    if (!isFirst) return observed
    // What cannot be judged now is left out, and is judged at a later get.
    const verdict = await isPayable(observed).catch((reason) => {
      if (Fault.from(reason).reason === 'ledger_unavailable') throw reason
      return undefined
    })
    return verdict === undefined ? observed : { ...observed, firstDeposit: verdict ? 'payable' : 'refused' }
  }
}
