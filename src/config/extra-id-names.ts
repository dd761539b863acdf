/** Checks a provider's own field names for memos and tags against the field names of its form (docs/contract.md §3.5). */
import { type ExtraIdNames, requestFieldNames, responseFieldNames } from '../wire/codec/extra-ids.ts'
import { namesByField } from '../wire/form.ts'
import type { ProviderForm } from '../wire/provider/form.ts'
import type { Faults } from './faults.ts'

const keyOf: Readonly<Record<string, keyof ExtraIdNames>> = {
  depositExtraId: 'deposit',
  withdrawalExtraId: 'withdrawal',
  refundExtraId: 'refund',
}

/** Adds a fault if two fields of one body have the same name: one of them would be lost. */
export function checkExtraIdNames(names: ExtraIdNames, { operations }: ProviderForm, faults: Faults): void {
  const creates = operations.filter(({ op }) => op === 'createTransaction')
  const transactions = operations.filter(({ op }) => op.endsWith('Transaction') || op === 'listTransactions')
  const requestNames = requestFieldNames(names)
  const responseNames = responseFieldNames(names)
  const repeated = new Set([
    ...creates.flatMap(({ requestCodec }) => repeatedFields(namesByField(requestCodec.slots), requestNames)),
    ...transactions.flatMap((operation) => repeatedFields(operation.responseNames, responseNames)),
  ])
  for (const field of repeated) {
    faults.add(['extraIdNames', keyOf[field] ?? field], 'is already the name of another field')
  }
}

/** Fields whose own name is also the name of another field of the body. */
function repeatedFields(body: ReadonlyMap<string, string>, own: ReturnType<typeof requestFieldNames>): readonly string[] {
  const fieldNames = [...body].map(([field, name]) => [field, own[field] ?? name] as const)
  return fieldNames
    .filter(([field, name]) => own[field] !== undefined && fieldNames.some(([other, taken]) => other !== field && taken === name))
    .map(([field]) => field)
}
