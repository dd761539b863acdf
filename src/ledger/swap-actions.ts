/**
 * Kysely: actions on swaps. Of one swap there is at most one of each kind:
 *
 *     claimAction ──> sent ──> done (markActionDone) · gone (dropAction): the provider has not carried it out · sent, with a later check (scheduleNextActionCheck)
 *
 * A process that is killed leaves it `sent`, and its check falls due: it is looked for, and never sent again.
 */
import { sql } from 'kysely'
import type { NewSwapAction, StoredSwapAction, SwapActionStore } from '../core/ports/swap-actions.ts'
import { formatTransactionId, type NewTransaction } from '../domain/swap.ts'
import type { ActionKind, SwapAction } from '../domain/swap-action.ts'
import type { Database } from './database.ts'
import { addAudit } from './operations.ts'
import type { SwapActions } from './schema/tables.ts'
import type { Store } from './store.ts'

const auditActionOf = {
  refundTransaction: 'transaction.refund',
  continueTransaction: 'transaction.continue',
  setRefundAddress: 'transaction.refund_address',
} as const

export function swapActions(store: Store): SwapActionStore {
  const { database, write, writeOne } = store
  return {
    async readActions(provider, id) {
      const rows = database.selectFrom('swap_actions').selectAll().where('provider', '=', provider).where('provider_id', '=', id)
      return (await rows.execute()).map(toStored)
    },
    async readCreatedWith(provider, id) {
      const created = database.selectFrom('transactions').select('requested').where('provider', '=', provider)
      const { requested } = (await created.where('provider_id', '=', id).executeTakeFirst()) ?? {}
      if (!requested) return {}
      const { refundAddress, refundExtraId }: Partial<NewTransaction> = JSON.parse(requested)
      return refundAddress ? { refundAddress, ...(refundExtraId && { refundExtraId }) } : {}
    },
    async needsConfirmation(provider, id) {
      const { rows } = await sql`
        select 1 from restore_marks where actions_confirmed_at is null and not exists (
          select 1 from transactions where provider = ${provider} and provider_id = ${id} and attempted_at > restore_marks.marked_at
            and not exists (select 1 from found_orders where provider = ${provider} and provider_id = ${id})
        ) limit 1`.execute(database)
      return rows.length > 0
    },
    claimAction: (action, replaced) => write((within) => claim(within, store, action, replaced), 'result'),
    markActionDone: (action) =>
      writeOne(async (within) => {
        await within.updateTable('swap_actions').set({ state: 'done', next_check_at: null }).where(isClaim(action)).execute()
      }, 'result'),
    dropAction: (action) =>
      write(async (within) => {
        // A claim whose COMMIT is not confirmed yet still has this lock.
        const swap = within.selectFrom('transactions').select('provider').where('provider', '=', action.provider)
        await swap.where('provider_id', '=', action.id).forUpdate().execute()
        await within.deleteFrom('swap_actions').where(isClaim(action)).where('state', '=', 'sent').execute()
      }, 'result'),
    async dueActions(now, maxActions, busy = []) {
      const due = database.selectFrom('swap_actions').selectAll().where('next_check_at', '<=', now)
      const rows = busy.length > 0 ? due.where('provider', 'not in', busy) : due
      return (await rows.orderBy('next_check_at').limit(maxActions).execute()).map(toStored)
    },
    scheduleNextActionCheck: (action, nextCheckAt) =>
      writeOne(async (within) => {
        const { numUpdatedRows } = await within
          .updateTable('swap_actions')
          .set({ next_check_at: nextCheckAt ?? null, check_count: action.checkCount + 1 })
          .where(isClaim(action))
          .where('state', '=', 'sent')
          .where('check_count', '=', action.checkCount)
          .executeTakeFirstOrThrow()
        return numUpdatedRows === 1n
      }),
  }
}

function isClaim({ claim }: Pick<NewSwapAction, 'claim'>) {
  return sql<boolean>`claim = ${claim}`
}

async function claim(
  within: Database,
  store: Store,
  action: NewSwapAction,
  replaced: StoredSwapAction | undefined,
): Promise<boolean> {
  // The same claim again: an earlier run stored it, and its COMMIT was not confirmed.
  const stored = within.selectFrom('swap_actions').select('claim').where(isClaim(action))
  if (await stored.executeTakeFirst()) return true
  const swap = within.selectFrom('transactions').select('settled_at').where('provider', '=', action.provider)
  const own = swap.where('provider_id', '=', action.id).where('owner', '=', action.owner).where('state', '=', 'done')
  const found = await own.forUpdate().executeTakeFirst()
  if (!found || found.settled_at !== null) return false
  // One that has had an outcome since stays.
  if (replaced) await within.deleteFrom('swap_actions').where(isClaim(replaced)).where('state', '=', 'sent').execute()
  const { provider, id, kind, owner, refundAddress, refundExtraId, claimedAt, nextCheckAt } = action
  if (refundAddress !== undefined) {
    const others = within.selectFrom('swap_actions').select('claim').where('provider', '=', provider).where('provider_id', '=', id)
    const isOther = sql<boolean>`(refund_address <> ${refundAddress} or coalesce(refund_extra_id, '') <> ${refundExtraId ?? ''})`
    if (await others.where('kind', '!=', kind).where(isOther).executeTakeFirst()) return false
  }
  const row = {
    ...{ provider, provider_id: id, kind, claim: action.claim, owner, action: action.action, state: 'sent' as const },
    ...{ refund_address: refundAddress ?? null, refund_extra_id: refundExtraId ?? null },
    ...{ claimed_at: claimedAt, check_count: 0, next_check_at: nextCheckAt },
  }
  const inserted = within
    .insertInto('swap_actions')
    .values(row)
    .onConflict((conflict) => conflict.doNothing())
  const { numInsertedOrUpdatedRows } = await inserted.executeTakeFirstOrThrow()
  if (numInsertedOrUpdatedRows !== 1n) return false
  const { actor, audited: after } = action
  await addAudit(within, store, { actor, action: auditActionOf[action.action], subject: formatTransactionId(provider, id), after })
  return true
}

function toStored(row: SwapActions): StoredSwapAction {
  return {
    provider: row.provider,
    id: row.provider_id,
    kind: row.kind as ActionKind,
    action: row.action as SwapAction,
    claim: row.claim,
    owner: row.owner,
    state: row.state,
    refundAddress: row.refund_address ?? undefined,
    refundExtraId: row.refund_extra_id ?? undefined,
    claimedAt: Number(row.claimed_at),
    checkCount: row.check_count,
    nextCheckAt: row.next_check_at === null ? undefined : Number(row.next_check_at),
  }
}
