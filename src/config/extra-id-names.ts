/** A provider's own words for memos and tags against the words of its form (docs/contract.md §3.5). */
import { type ExtraIdNames, requestFieldNames, responseFieldNames } from '../wire/extra-ids.ts'
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
  const requestNames = requestFieldNames(names)
  const responseNames = responseFieldNames(names)
  const repeated = new Set([
    ...repeatedFields(createTransaction.requestNames, requestNames),
    ...[createTransaction, getTransaction, listTransactions].flatMap(({ responseNames: answers }) =>
      repeatedFields(answers, responseNames),
    ),
  ])
  for (const field of repeated) {
    faults.add(['extraIdNames', keyOf[field] ?? field], 'is what another field is called there')
  }
}

/** Those that have a word of their own which another field of the body has too. */
function repeatedFields(body: ReadonlyMap<string, string>, own: ReturnType<typeof requestFieldNames>): readonly string[] {
  const fieldNames = [...body].map(([field, name]) => [field, own[field] ?? name] as const)
  return fieldNames
    .filter(([field, name]) => own[field] !== undefined && fieldNames.some(([other, taken]) => other !== field && taken === name))
    .map(([field]) => field)
}
