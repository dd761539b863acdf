/** Swaps: the response to a create, lists while others create, and one swap in both forms. */
import * as fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { digits } from '../support/json.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, pairs } from '../support/pair.ts'
import { swap } from '../support/swaps.ts'

const nameOf = { A: 'alpha', B: 'beta' } as const
const other = { A: 'B', B: 'A' } as const
type Facts = Readonly<Record<string, unknown>>

let managed: Managed
afterEach(() => managed.close())

const create = (form: FormName, key: string, facts: object = {}): Promise<ReceivedResponse> =>
  managed.client(form).post('/transactions', orderIn(form, facts), { key })
const idOf = ({ json }: ReceivedResponse): string => (json as { readonly id: string }).id

describe.each(pairs)('client $client, provider $provider', ({ client: form, provider: side }) => {
  test('S7: a create has the status and the fields of its form, and waits', async () => {
    managed = await startManaged({ routing: [nameOf[side]] })
    const response = await create(form, await managed.issue(), { refundAddress: 'bc1q-refund-1' })
    expect(response.status).toBe(form === 'A' ? 201 : 200)
    expect(response.json).toMatchObject({ status: 'wait' })
    const fields =
      form === 'A'
        ? 'id status coinFrom coinTo amount amountTo depositAddress withdrawalAddress refundAddress createdAt updatedAt rate rateType'
        : 'id status coin_from coin_to amount_in amount_out_expected rate_type deposit_address withdrawal_address created_at'
    expect(Object.keys(response.json as object)).toEqual(fields.split(' '))
  })

  test('S9: a swap made in one form reads right in the other', async () => {
    managed = await startManaged({ routing: [nameOf[side]], sections: { ledger: { refreshAfter: 0 } } })
    const key = await managed.issue()
    const id = idOf(await create(form, key, { refundAddress: 'bc1q-refund-1' }))
    const read = async (as: FormName): Promise<Facts> =>
      (await managed.client(as).get(`/transactions/${id}`, { key })).json as Facts
    const [a, b] = [await read('A'), await read('B')]
    const { coinFrom, coinTo, updatedAt, ...shared } = a
    const { coin_from, network_from, coin_to, network_to, tx_hash_in, tx_hash_out, ...same } = b
    expect([coinFrom, coin_from, network_from]).toEqual(['BTC', 'BTC', 'BTC'])
    expect([coinTo, coin_to, network_to]).toEqual(['USDTTRC20', 'USDT', 'TRX'])
    expect(Object.keys(same).toSorted()).toEqual(Object.values(inB).toSorted())
    for (const [name, value] of Object.entries(shared)) expect(same[inB[name] ?? ''], name).toEqual(value)
    expect(typeof updatedAt).toBe('string')
    expect([tx_hash_in === null, tx_hash_out]).toEqual([side === 'A', null])
  })

  test('S9: and so do the lists of both', async () => {
    managed = await startManaged({ routing: [nameOf[side]] })
    const key = await managed.issue()
    const made = [idOf(await create(form, key)), idOf(await create(other[form], key))]
    const list = async (as: FormName): Promise<readonly Facts[]> =>
      ((await managed.client(as).get('/transactions', { key })).json as { readonly data: readonly Facts[] }).data
    const [inA, inFormB] = [await list('A'), await list('B')]
    expect(inA.map(({ id }) => id).toSorted()).toEqual(made.toSorted())
    expect(inFormB.map(({ id, amount_in, created_at }) => [id, amount_in, created_at])).toEqual(
      inA.map(({ id, amount, createdAt }) => [id, amount, createdAt]),
    )
  })
})

/** What Form B calls the fields that both forms have. */
const inB: Readonly<Record<string, string>> = {
  ...{ id: 'id', status: 'status', amount: 'amount_in', amountTo: 'amount_out', rate: 'rate', rateType: 'rate_type' },
  ...{ depositAddress: 'deposit_address', withdrawalAddress: 'withdrawal_address', refundAddress: 'refund_address' },
  createdAt: 'created_at',
}

interface ListPage {
  readonly ids: readonly string[]
  readonly dates: readonly string[]
  readonly total: number
}

async function page(form: FormName, key: string, at: number, size: number): Promise<ListPage> {
  const { json } = await managed.client(form).get(`/transactions?page=${at}&size=${size}`, { key })
  const { data, pagination, count } = json as {
    readonly data: readonly Readonly<Record<string, string>>[]
    readonly pagination?: { readonly total: unknown }
    readonly count?: unknown
  }
  const dates = data.map(({ createdAt, created_at }) => createdAt ?? created_at ?? '')
  return { ids: data.map(({ id }) => id ?? ''), dates, total: Number(JSON.stringify(pagination?.total ?? count)) }
}

describe.each(formNames)('form %s', (form) => {
  test('S8: a walk over the pages misses nothing that was there, in order, while others create', async () => {
    managed = await startManaged({ sections: { ledger: { refreshAfter: 600 } } })
    let made = 0
    managed.alpha.reply('create', () => {
      const createdAt = new Date().toISOString()
      return { status: 201, json: transactionA(swap({ id: `tx-${++made}`, createdAt, updatedAt: createdAt, refundAddress: null })) }
    })
    const runs = fc.tuple(fc.nat(7), fc.integer({ min: 1, max: 4 }), fc.array(fc.nat(3), { maxLength: 6 }))
    await fc.assert(
      fc.asyncProperty(runs, async ([before, size, inserts]) => {
        const key = await managed.issue()
        const createSome = (count: number): Promise<readonly string[]> =>
          Promise.all(Array.from({ length: count }, async () => idOf(await create(form, key, { amount: digits('0.10') }))))
        const there = await createSome(before)
        const walked: ListPage[] = []
        const beside: Promise<readonly string[]>[] = []
        for (let at = 1; at === 1 || (walked.at(-1)?.ids.length ?? 0) > 0; at++) {
          beside.push(createSome(inserts[at - 1] ?? 0))
          walked.push(await page(form, key, at, size))
        }
        const all = [...there, ...(await Promise.all(beside)).flat()]
        const ids = walked.flatMap(({ ids: listed }) => listed)
        expect(new Set(there).difference(new Set(ids))).toEqual(new Set())
        expect(new Set(ids).difference(new Set(all))).toEqual(new Set())
        for (const { dates, total } of walked) {
          expect(dates).toEqual(dates.toSorted().toReversed())
          expect(total).toBeGreaterThanOrEqual(before)
          expect(total).toBeLessThanOrEqual(all.length)
        }
        const still = await page(form, key, 1, 100)
        expect([still.ids.toSorted(), still.total]).toEqual([all.toSorted(), all.length])
      }),
      { numRuns: 20 },
    )
  }, 60_000)
})
