/** Reads details of list items from the provider (docs/contract.md §3.4). */

import { forEachConcurrently } from '../../domain/async.ts'
import { Fault } from '../../domain/fault.ts'
import type { Capabilities, Context, ServiceResponse, SwapService } from '../../domain/service.ts'

const concurrency = 8

type Detail = ServiceResponse<'getTransaction'>

/** Whether the client's list has a field that the provider has only in its details. */
export function needsDetails({ clientCapabilities: client }: Context, provider: Capabilities): boolean {
  const listed = provider.responseFields.listTransactions
  const detailed = provider.responseFields.getTransaction
  for (const field of client.responseFields.listTransactions) if (!listed.has(field) && detailed.has(field)) return true
  return false
}

/** Uses at most half of the remaining time, and stops if the provider is unavailable or rate-limited. Unread details are omitted. */
export async function readDetails(
  ids: ReadonlySet<string>,
  service: SwapService,
  context: Context,
): Promise<ReadonlyMap<string, Detail>> {
  const now = performance.now()
  const deadline = now + (context.deadline - now) / 2
  const details = new Map<string, Detail>()
  let isStopped = false
  await forEachConcurrently(concurrency, [...ids], async (id) => {
    if (isStopped || performance.now() >= deadline) return
    try {
      const response = await service.call('getTransaction', { id }, { ...context, deadline })
      if (response.body.id === id) details.set(id, response)
    } catch (reason) {
      isStopped ||= Fault.from(reason).kind === 'limited' || Fault.from(reason).kind === 'unavailable'
    }
  })
  return details
}
