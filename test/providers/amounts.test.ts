/** docs/contract.md §3, §16: amounts of a transaction whose provider reports what was agreed beside what was really paid and sent. */
import { expect, it } from 'vitest'
import { digits } from '../support/json.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import { type Rig, startRig } from './rig.ts'

interface Amounts {
  readonly deposited: string
  readonly sent: string
}

/** How each reports them: in an object, or in the only item of a list. */
const members = {
  letsexchange: ({ deposited, sent }: Amounts) => ({ real_deposit_amount: deposited, real_withdrawal_amount: sent }),
  changelly: ({ deposited, sent }: Amounts) => ({ amountFrom: deposited, amountTo: sent, networkFee: '0.5' }),
} as const
const fees = { letsexchange: '0', changelly: '0.5' } as const
const none: Amounts = { deposited: '', sent: '0' }
const names = ['letsexchange', 'changelly'] as const

function report(rig: Rig, name: (typeof names)[number], amounts: Amounts): void {
  rig.exchange.tamper = (operation, { json }) => {
    if (operation !== 'get' && operation !== 'list') return undefined
    return { json: withMembers(json, members[name](amounts)) }
  }
}

function withMembers(json: unknown, own: object): unknown {
  const { data, result, ...rest } = json as { readonly data?: readonly object[]; readonly result?: readonly object[] }
  if (data) return { ...rest, data: data.map((row) => ({ ...row, ...own })) }
  return result ? { ...rest, result: result.map((row) => ({ ...row, ...own })) } : { ...rest, ...own }
}

it.each(names)('P60: real amounts replace the agreed ones as soon as there are any (%s)', async (name) => {
  await using rig = await startRig(name)
  const { json } = await rig.create('A')
  const path = `/transactions/${(json as { readonly id: string }).id}`
  report(rig, name, none)
  const agreed = await rig.get('A', path)
  expect(agreed.json).toMatchObject({ amount: digits('0.1'), depositAddress: rig.exchange.swaps[0]?.deposit })
  expect((agreed.json as { readonly amountTo: unknown }).amountTo).not.toEqual(digits('0'))
  report(rig, name, { deposited: '0.090000000000000001', sent: '150.100000000000000009' })
  const received = fees[name] === '0' ? '150.100000000000000009' : '149.600000000000000009'
  expect((await rig.get('A', path)).json).toMatchObject({ amount: digits('0.090000000000000001'), amountTo: digits(received) })
  expect((await rig.get('B', path)).json).toMatchObject({ amount_in: digits('0.090000000000000001'), amount_out: digits(received) })
  // The table has six decimals for what is received.
  expect(rig.drift().filter((line) => !line.includes('excessDecimals'))).toEqual([])
})

it.each(names)('P60: a lost create is found while there are no real amounts (%s)', async (name) => {
  await using rig = await startRig(name)
  report(rig, name, none)
  rig.exchange.losesNextCreate = true
  const order = { idempotencyKey: 'order-1' } as const
  expect((await rig.create('A', order)).status).toBe(504)
  await lookNow(rig.gateway)
  expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
  expect((await rig.create('A', order)).json).toMatchObject({ amount: digits('0.1') })
  expect(rig.drift()).toEqual([])
})
