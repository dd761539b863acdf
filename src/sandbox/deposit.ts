/** A deposit on the simulated chain. */
import { z } from 'zod'
import { type Amount, isPositive, toAmount } from '../domain/amount.ts'
import { Fault } from '../domain/fault.ts'
import { JsonNumber, printString } from '../wire/json.ts'
import type { Sandbox } from './service.ts'
import { stageOf } from './timeline.ts'

const mustBeAmount = 'it must be a number above 0'

/** Default: the requested amount. */
export const depositBody = z.strictObject({
  depositAddress: z.string('it must be a text'),
  amount: z
    .instanceof(JsonNumber, { error: mustBeAmount })
    .transform(({ lexeme }) => toAmount(lexeme))
    .refine((amount): amount is Amount => amount !== undefined && isPositive(amount), mustBeAmount)
    .optional(),
})

interface Receipt {
  readonly id: string
  readonly depositAddress: string
  readonly amount: Amount
}

/** Pays the swap that waits at this address. Throws `notFound` where none does, `invalid` where it is paid already. */
export function pay(
  { depositAddress, amount }: z.output<typeof depositBody>,
  { store, pace, clock }: Pick<Sandbox, 'store' | 'pace' | 'clock'>,
): Receipt {
  const swap = store.findByDepositAddress(depositAddress)
  if (!swap) throw new Fault('notFound', 'No transaction has this deposit address.')
  const at = clock()
  if (stageOf(swap, pace, at).deposit) throw new Fault('invalid', 'This transaction has its deposit already.')
  const deposit = { amount: amount ?? swap.amountIn, at }
  store.update({ ...swap, deposit })
  return { id: swap.id, depositAddress, amount: deposit.amount }
}

/** JSON in which the amount keeps its digits. */
export function printReceipt({ id, depositAddress, amount }: Receipt): string {
  return `{"id":${printString(id)},"depositAddress":${printString(depositAddress)},"amount":${amount}}`
}
