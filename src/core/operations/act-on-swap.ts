/** What an operator does about a swap of a client, on the command line and over HTTP alike (docs/contract.md §3.11, docs/contract-operators.md §15). */
import { standardFault } from '../../domain/fault.ts'
import { parseTransactionId } from '../../domain/swap.ts'
import type { SwapAction, SwapActionRequest } from '../../domain/swap-action.ts'
import type { OperatorActions } from '../actions/by-operator.ts'
import type { FoundTransaction, LedgerAdmin } from '../ports/ledger-admin.ts'
import { withoutAddresses } from './settle.ts'

/** `id`: for clients. */
export interface OperatorAction extends SwapActionRequest {
  readonly action: SwapAction
  readonly note: string
  /** Whether it is sent although the outcome of an earlier one is not known. */
  readonly isForced: boolean
}

export interface ActedOnSwap {
  readonly found: FoundTransaction
  /** It was done before: nothing was sent. */
  readonly isRepeated: boolean
}

/** Throws a `Fault`; one with `canForce` is carried out if it is forced. */
export async function actOnSwap(
  { action, note, isForced, ...request }: OperatorAction,
  actor: string,
  ledgerAdmin: Pick<LedgerAdmin, 'findTransaction'>,
  actions: OperatorActions,
): Promise<ActedOnSwap> {
  const { tag, id } = parseTransactionId(request.id)
  const found = tag === undefined ? undefined : await ledgerAdmin.findTransaction(tag, id)
  if (tag === undefined || !found) throw standardFault('notFound')
  const by = { owner: found.entry.owner, actor, isForced, note: withoutAddresses(note) }
  const { isRepeated } = await actions.carryOut(action, request, by)
  return { found: (await ledgerAdmin.findTransaction(tag, id)) ?? found, isRepeated }
}
