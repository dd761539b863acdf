/**
 * The first deposit address of a create that was bound without one: a person has bound it unread, or before its provider showed one. It is
 * judged as a response is, at the first get that has it (docs/contract-operators.md §10.3). None comes from a list.
 */
import { Fault } from '../../domain/fault.ts'
import { gatewayContext, type ServiceResponse } from '../../domain/service.ts'
import { pickAssetFields } from '../assets/asset-naming.ts'
import { refuseUnknownWords } from '../assets/translate-assets.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { ProviderScope } from '../provider-scope.ts'
import { type OtherDeposits, takingDeposit } from './other-deposits.ts'
import { mayBecomePayable, reportOfGet } from './payable.ts'

type Judging = Pick<ProviderScope, 'tag' | 'configured' | 'currencyList' | 'capabilities'> & {
  readonly ledger: Pick<Ledger, 'boundCreate' | 'takeDeposit'>
}

export function judgeFirstDeposit(
  { tag, configured, currencyList, capabilities, ledger }: Judging,
  otherDeposits: OtherDeposits,
): ProviderScope['judgeFirstDeposit'] {
  const judge = mayBecomePayable(configured, currencyList)
  const { naming } = currencyList
  const isPayable = async (get: ServiceResponse<'getTransaction'>): Promise<boolean> => {
    const { body: reported } = get
    const create = await ledger.boundCreate(tag, reported.id)
    if (!create) return false
    const { requested, sent, quote } = create
    refuseUnknownWords(reported, sent, currencyList)
    const report = reportOfGet(get, create, naming, !capabilities.hasExpectedAmount)
    const context = gatewayContext(capabilities)
    const { refused } = await judge({ requested, pair: pickAssetFields(requested), sent, quote }, report, context)
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
  return async (entry, get) => {
    const isFirst = entry?.isCreated && !entry.transaction.depositAddress && Boolean(get.body.depositAddress)
    if (!isFirst) return undefined
    try {
      return (await isPayable(get)) ? 'payable' : 'refused'
    } catch (reason) {
      if (Fault.from(reason).reason === 'ledger_unavailable') throw reason
      return undefined // of the provider's list, say: it is judged at a later get
    }
  }
}
