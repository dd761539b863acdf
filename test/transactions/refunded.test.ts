/** docs/contract.md §3.9: a swap of a provider of Form A or B that is sent back, with either mode of keys. */
import { describe, expect, test } from 'vitest'
import { transactionA } from '../support/form-a.ts'
import { detailedB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { type Swap, swap } from '../support/swaps.ts'

type Members = Readonly<Record<string, unknown>>

const providerOf = { A: 'alpha', B: 'beta' } as const
const inA = {
  ...{ refundHash: 'ef03', refundAmount: digits('0.0999'), statusReason: 'late_deposit' },
  supportUrl: 'https://swap.example/t/1',
}
const inB = {
  ...{ refund_hash: 'ef03', refund_amount: digits('0.0999'), status_reason: 'late_deposit' },
  support_url: 'https://swap.example/t/1',
}
/** As a provider sends it, with an amount and a hash of a payout that was none. */
const refunded = {
  A: (held: Swap) => ({ ...transactionA(ofRefund(held)), ...inA }),
  B: (held: Swap) => ({ ...detailedB(ofRefund(held)), ...inB, tx_hash_out: 'no-payout' }),
}
const ofRefund = (held: Swap): Swap => ({ ...held, status: 'refunded', amountOut: digits('7') })

describe.each(formNames)('a provider of form %s', (provider) => {
  test.each(formNames)('with issued keys: a client of form %s gets what came back, and no payout', async (form) => {
    const name = providerOf[provider]
    await using managed = await startManaged({ routing: [name], sections: { ledger: { refreshAfter: 0 } } })
    const key = await managed.issue('acme')
    const client = managed.client(form)
    const created = (await client.post('/transactions', orderIn(form), { key })).json as Members
    const id = String(created.id)
    const [held = swap()] = managed[name].holdings.swaps
    for (let read = 0; read < 2; read++) managed[name].reply('get', { status: 200, json: refunded[provider](held) })
    for (const [what, read] of [
      ['get', () => client.get(`/transactions/${id}`, { key })],
      ['list', () => client.get('/transactions', { key })],
    ] as const) {
      const { json, headers } = await read()
      const row = (what === 'get' ? json : (json as { readonly data: readonly Members[] }).data[0]) as Members
      if (form === 'A') {
        expect(row).toMatchObject({ status: 'refunded', ...inA, amountTo: created.amountTo })
        expect(headers['x-swap-derived'], what).toContain('amountTo')
      } else {
        expect(row).toMatchObject({ status: 'refunded', ...inB, ...(what === 'get' && { tx_hash_out: null }) })
        expect(row).not.toHaveProperty('amount_out')
      }
    }
  })

  test.each(formNames)('with its own keys: a client of form %s gets no payout that was none', async (form) => {
    const name = providerOf[provider]
    await using place = await startPassthrough(name)
    const held = swap({ id: 'p-1', status: 'refunded' })
    place[name].holdings.swaps = [held]
    place[name].reply('get', { status: 200, json: refunded[provider](held) })
    const { json } = await place.client(form).get(`/transactions/${name}~p-1`, { key: `own-key-${form}` })
    expect(json).toMatchObject({ status: 'refunded', ...(form === 'A' ? inA : { ...inB, tx_hash_out: null }) })
    expect(json).not.toHaveProperty('amount_out')
  })
})
