/** docs/contract.md §3.4, docs/contract-operators.md §10.2: a row of a provider's list that cannot be read takes no other one along. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import { lookNow, outcomesOf } from '../support/outcomes.ts'
import { formNames } from '../support/pair.ts'
import type { Reply } from '../support/stand-in.ts'
import { type Rig, startRig } from './rig.ts'

type Row = Readonly<Record<string, unknown>>

const unreadable: readonly (readonly [what: string, change: (row: Row) => unknown])[] = [
  ['null networks', (row) => ({ ...row, coin_from_network: null, coin_to_network: null })],
  ['a time of ten digits', (row) => ({ ...row, created_at: 1_785_335_671 })],
  ['a time of ten digits as text', (row) => ({ ...row, created_at: '1785335671' })],
  ['a missing time', ({ created_at: _, ...row }) => row],
  ['a missing id', ({ transaction_id: _, ...row }) => row],
  ['an amount that is no number', (row) => ({ ...row, deposit_amount: 'much' })],
  ['nothing in it', () => ({})],
  ['no members at all', () => null],
]

/** Its list has the rows, and beside them one of another swap that is changed so. */
function withRow({ exchange }: Rig, change: (row: Row) => unknown): void {
  exchange.tamper = (operation, { json }) => {
    if (operation !== 'list') return undefined
    const { data, ...page } = json as { readonly data: readonly Row[] }
    const [row] = data
    const foreign = {
      ...row,
      transaction_id: 'foreign',
      deposit_amount: '7',
      withdrawal: '0x52908400098527886E0F7030069857D2E4169EE7',
    }
    return { json: { ...page, data: [change(foreign), ...data] } } satisfies Reply
  }
}

describe.each(unreadable)('letsexchange: a row with %s', (_, change) => {
  it.each(formNames)('is left out of the list of a client of form %s, counted and named', async (form) => {
    await using rig = await startRig('letsexchange', { mode: 'passthrough' })
    for (const amount of ['0.1', '0.2']) await rig.create(form, { amount })
    withRow(rig, change)
    const list = await rig.get(form, '/transactions')
    expect(list.status, list.text).toBe(200)
    expect(JSON.stringify(list.json)).not.toContain('foreign')
    for (const { id } of rig.exchange.swaps) expect(list.text).toContain(`alpha~${id}`)
    expect(list.headers['x-swap-warning']).toBe('rows_unreadable')
    expect(rig.drift().filter((line) => line.includes('badRow')).length).toBeGreaterThan(0)
  })
})

// One that says nothing at all may be a second one of any create.
it.each(unreadable.filter(([what]) => !what.startsWith('no')))(
  'letsexchange: a row with %s does not keep a lost create from being found',
  async (_, change) => {
    await using rig = await startRig('letsexchange')
    rig.exchange.losesNextCreate = true
    const order = { idempotencyKey: 'order-1' }
    expectRefusal(await rig.create('A', order), 'A', 504)
    withRow(rig, change)
    await lookNow(rig.gateway)
    expect(outcomesOf(rig.gateway).at(-1)).toBe('found')
    expect((await rig.create('A', order)).status).toBe(201)
  },
)

it('a list whose rows can all be read has no warning', async () => {
  await using rig = await startRig('letsexchange', { mode: 'passthrough' })
  await rig.create('A')
  expect((await rig.get('A', '/transactions')).headers['x-swap-warning']).toBeUndefined()
})

it('exolix: a get of a swap that is being refunded is 200', async () => {
  await using rig = await startRig('exolix', { mode: 'passthrough' })
  await rig.create('A')
  const [swap] = rig.exchange.swaps
  Object.assign(swap ?? {}, { status: 'refund' })
  await rig.gateway.forget() // what it knew of its status
  const read = await rig.get('A', `/transactions/alpha~${swap?.id}`)
  expect([read.status, read.json], read.text).toMatchObject([200, { status: 'exchanging' }])
})
