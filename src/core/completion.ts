/** List items made whole from the provider's own details (docs/contract.md §3.4). */
import { Fault } from '../domain/fault.ts'
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { atMost } from './workers.ts'

const atOnce = 8

type Detail = Answer<'getTransaction'>

/** Whether the client's list shows what the provider's list does not say and its details do. */
export function needsDetails({ client }: Context, provider: Vocabulary): boolean {
  const listed = provider.answers.listTransactions
  const detailed = provider.answers.getTransaction
  for (const field of client.answers.listTransactions) if (!listed.has(field) && detailed.has(field)) return true
  return false
}

/** Takes at most half of the time that is left, and ends where the provider has had enough; what is then unknown is absent. */
export async function lookUp(
  ids: ReadonlySet<string>,
  service: SwapService,
  context: Context,
): Promise<ReadonlyMap<string, Detail>> {
  const now = performance.now()
  const deadline = now + (context.deadline - now) / 2
  const details = new Map<string, Detail>()
  let isOver = false
  await atMost(atOnce, [...ids], async (id) => {
    if (isOver || performance.now() >= deadline) return
    try {
      const answer = await service.call('getTransaction', { id }, { ...context, deadline })
      if (answer.body.id === id) details.set(id, answer)
    } catch (reason) {
      isOver ||= Fault.from(reason).kind === 'limited' || Fault.from(reason).kind === 'unavailable'
    }
  })
  return details
}
