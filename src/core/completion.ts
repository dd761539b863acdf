/** List items made whole from the provider's own details (`spec/contract.md` §3, Get and list). */
import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { type Layer, on } from './layer.ts'
import { from, namePair, to, wordsOf } from './pair.ts'

const atOnce = 8

/** What the client's list shows, the provider's list does not say and the provider's details do, is looked up there. */
export function completion(provider: Vocabulary): Layer {
  const listed = provider.answers.listTransactions
  const detailed = provider.answers.getTransaction
  const needs = ({ client }: Context): boolean =>
    [...client.answers.listTransactions].some((field) => !listed.has(field) && detailed.has(field))
  return on({
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      if (!needs(context)) return answer
      const items = await complete(answer.body.items, next, context)
      return { ...answer, body: { ...answer.body, items } }
    },
  })
}

/** Takes at most half of the time that is left, and ends where the provider has had enough; what is then unknown stays so. */
async function complete(items: readonly Transaction[], service: SwapService, context: Context): Promise<readonly Transaction[]> {
  const now = performance.now()
  const deadline = now + (context.deadline - now) / 2
  const details = new Map<string, Promise<Transaction | undefined>>()
  let isOver = false
  const look = async (id: string): Promise<Transaction | undefined> => {
    try {
      const { body } = await service.call('getTransaction', { id }, { ...context, deadline })
      return body.id === id ? body : undefined
    } catch (reason) {
      isOver ||= Fault.from(reason).kind === 'limited'
      return undefined
    }
  }
  const whole = [...items]
  // The workers share one iterator: each row is taken by one of them.
  const waiting = whole.keys()
  const work = async (): Promise<void> => {
    for (const at of waiting) {
      if (isOver || performance.now() >= deadline) return
      const item = whole[at] as Transaction
      const detail = await details.getOrInsertComputed(item.id, look)
      if (detail) whole[at] = fill(item, detail)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, work))
  return whole
}

/** What the list said stands; what it left open, and which assets were meant, is told by the details. */
function fill(item: Transaction, detail: Transaction): Transaction {
  const said = Object.entries(item).filter(([, value]) => value !== undefined)
  return namePair({ ...detail, ...Object.fromEntries(said) }, wordsOf(detail, from), wordsOf(detail, to))
}
