/** Checks a provider's own field names for memos and tags against the field names of its form (docs/contract.md §3.5). */
import { type ExtraIdNames, requestFieldNames, responseFieldNames } from '../wire/extra-ids.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
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
    ...creates.flatMap(({ requestCodec }) => repeatedFields(requestCodec.slots, requestNames)),
    ...transactions.flatMap(({ responseCodec }) => repeatedFields(responseCodec.slots, responseNames)),
  ])
  for (const field of repeated) {
    faults.add(['extraIdNames', keyOf[field] ?? field], 'is already the name of another field')
  }
}

interface Slot {
  readonly field: string
  /** With the names of the objects around it, if there are any. */
  readonly name: string
}

/** Fields whose own name is also the name of another field of the same object. */
function repeatedFields(slots: readonly Slot[], own: ReturnType<typeof requestFieldNames>): readonly string[] {
  const renamed = slots.map(({ field, name }) => ({ field, name: beside(name, own[field]) }))
  return renamed
    .filter(({ field, name }) => own[field] !== undefined && renamed.some((other) => other.field !== field && other.name === name))
    .map(({ field }) => field)
}

/** `name`, or this word in the same object. */
function beside(name: string, word: string | undefined): string {
  return word === undefined ? name : name.slice(0, name.lastIndexOf('.') + 1) + word
}
