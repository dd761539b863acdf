import { compareAmounts } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import type { CreateOutcome } from '../domain/observation.ts'
import type { Answer } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import type { IntentOptions } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Facts } from './ledger.ts'
import { unknownOutcome } from './outcome.ts'

export interface SettlementOptions extends IntentOptions {
  /** What the provider's form can say. */
  readonly said: Vocabulary
}

/**
 * What a create made is in the ledger before its owner hears of it (docs/contract.md §10). An answer that contradicts the
 * question is kept, and nobody is given its deposit address.
 */
export function settlement({ ledger, provider, said, clock, observe, keys }: SettlementOptions): Layer {
  const count = (outcome: CreateOutcome): void => observe({ what: 'create', provider, outcome })
  return on({
    async createTransaction(request, context, next) {
      const attempt = crypto.randomUUID()
      const answer = await next.call('createTransaction', request, { ...context, attempt })
      const { body, contradicted = [] } = answer
      if (contradicted.length > 0) {
        count('contradicted')
        await ledger.contradict(attempt, body, contradicted).catch(() => {})
        throw contradiction(provider)
      }
      if (compareAmounts(body.amountIn, request.amountIn) !== 0) count('otherAmount')
      const isTheirs = await ledger.settle(attempt, factsOf(answer, said, clock())).catch((reason) => {
        keys?.hold(context.caller)
        throw unknownOutcome(Fault.from(reason), provider)
      })
      if (isTheirs) return answer
      count('takenId')
      throw contradiction(provider)
    },
  })
}

/** What the first answer promises to pay out is not yet received. */
function factsOf({ body, derived = [], sequence }: Answer<'createTransaction'>, said: Vocabulary, seenAt: number): Facts {
  const { amountOut, ...rest } = body
  const transaction: Transaction = said.expectsAmount ? body : rest
  return { transaction, derived, promised: amountOut, seenAt, sequence }
}

/** The answer to a create that made something else: asked again under its `Idempotency-Key`, it is the same. */
export function contradiction(provider: string): Fault {
  const message =
    "The provider's answer was not what you asked for: do not pay for it. No deposit address is given, and the operator is told."
  return new Fault('contradicted', message, { provider })
}
