/** A provider's own words for memos and tags against the words of its form (docs/contract.md §3.5). */
import { answeredWords, askedWords, type ExtraIdNames } from '../wire/extra-ids.ts'
import type { Form } from '../wire/form.ts'
import type { Faults } from './faults.ts'

const keyOf: Readonly<Record<string, keyof ExtraIdNames>> = {
  depositExtraId: 'deposit',
  withdrawalExtraId: 'withdrawal',
  refundExtraId: 'refund',
}

/** Two fields of one body with the same word are a fault: one of them would be lost. */
export function checkExtraIdNames(names: ExtraIdNames, { operations }: Form, faults: Faults): void {
  const { createTransaction, getTransaction, listTransactions } = operations
  const asked = askedWords(names)
  const answered = answeredWords(names)
  const repeated = new Set([
    ...repeatedFields(createTransaction.asks, asked),
    ...[createTransaction, getTransaction, listTransactions].flatMap(({ answers }) => repeatedFields(answers, answered)),
  ])
  for (const field of repeated) {
    faults.add(['extraIdNames', keyOf[field] as string], 'is what another field is called there')
  }
}

/** Those that have a word of their own which another field of the body has too. */
function repeatedFields(body: ReadonlyMap<string, string>, own: ReturnType<typeof askedWords>): readonly string[] {
  const words = [...body].map(([field, word]) => [field, own[field] ?? word] as const)
  return words
    .filter(([field, word]) => own[field] !== undefined && words.some(([other, taken]) => other !== field && taken === word))
    .map(([field]) => field)
}
