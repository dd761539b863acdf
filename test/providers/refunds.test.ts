/** docs/contract.md §3.9: what went wrong, and money on its way back, as each provider says it, for clients of both forms. */
import { afterEach, describe, expect, test } from 'vitest'
import { digits } from '../support/json.ts'
import { type FormName, formNames } from '../support/pair.ts'
import type { ProviderName } from './documented.ts'
import { type Rig, startRig } from './rig.ts'

let rig: Rig
let id: string
afterEach(() => rig[Symbol.asyncDispose]())

type Members = Readonly<Record<string, unknown>>

/** A swap at the provider, and what its gets have from now on, beside or in the place of what they had. */
async function start(name: ProviderName, form: FormName = 'A', body: object = {}): Promise<void> {
  rig = await startRig(name)
  const created = await rig.create(form, { rateType: 'fixed', body })
  expect(created.status, created.text).toBeLessThan(300)
  id = (created.json as { readonly id: string }).id
}

function becomes(members: Members, isIn: (json: Members) => Members = (json) => ({ ...json, ...members })): void {
  rig.exchange.tamper = (operation, { json, ...reply }) =>
    operation === 'get' ? { ...reply, json: isIn(json as Members) } : undefined
}

/** Of Changelly: a list of one in an envelope. */
function becomesInResult(members: Members): void {
  becomes(members, (json) => ({ ...json, result: (json.result as Members[]).map((row) => ({ ...row, ...members })) }))
}

async function read(form: FormName = 'A'): Promise<Members & { readonly headers: Members }> {
  const { status, json, headers, text } = await rig.get(form, `/transactions/${id}`)
  expect(status, text).toBe(200)
  const { attention } = json as Members
  expect(headers['x-swap-attention']).toBe(attention)
  return { ...(json as Members), headers }
}

const waiting = async () => (await rig.gateway.ledgerAdmin.needPerson()).map(({ entry: { transaction } }) => transaction.attention)

const sentBack: readonly (readonly [ProviderName, () => void, { readonly amount?: string; readonly reason?: string }])[] = [
  ['changenow', () => becomes({ status: 'refunded', refundHash: 'ef03', refundAmount: 0.09 }), { amount: '0.09' }],
  [
    'letsexchange',
    () => becomes({ status: 'refund', return_hash: 'ef03', return_amount: '0.09', error_code: '50002' }),
    { amount: '0.09', reason: 'late_deposit' },
  ],
  [
    'sideshift',
    () => becomes({ status: 'refunded', settleHash: 'ef03', issue: 'incorrect amount' }),
    { reason: 'amount_out_of_range' },
  ],
  ['changelly', () => becomesInResult({ status: 'refunded', refundHash: 'ef03' }), {}],
  ['stealthex', () => becomes({ status: 'refunded', refund_tx_hash: 'ef03', refund_amount: 0.09 }), { amount: '0.09' }],
]

describe.each(sentBack)('%s', (name, sendBack, { amount, reason }) => {
  test.each(formNames)('form %s gets the refund, and no payout as paid; so does its list', async (form) => {
    await start(name, form)
    const before = await read(form)
    sendBack()
    const { headers, ...swap } = await read(form)
    const inA = {
      ...{ status: 'refunded', refundHash: 'ef03', amountTo: before.amountTo },
      ...(amount && { refundAmount: digits(amount) }),
      ...(reason && { statusReason: reason }),
    }
    const inB = {
      ...{ status: 'refunded', refund_hash: 'ef03', tx_hash_out: null },
      ...(amount && { refund_amount: digits(amount) }),
      ...(reason && { status_reason: reason }),
    }
    expect(swap).toMatchObject(form === 'A' ? inA : inB)
    expect(swap).not.toHaveProperty('amount_out')
    expect(swap).not.toHaveProperty('attention')
    if (form === 'A') expect(String(headers['x-swap-derived']).split(',')).toContain('amountTo')
    else expect(String(headers['x-swap-omitted']).split(',')).toContain('amount_out')
    const [row] = ((await rig.get(form, '/transactions')).json as { readonly data: readonly Members[] }).data
    const { tx_hash_out: _, ...listed }: Members = form === 'A' ? inA : inB
    expect(row).toMatchObject(listed)
    expect(row).not.toHaveProperty('amount_out')
    expect(await waiting()).toEqual([])
    expect(rig.drift()).toEqual([])
  })
})

// At LetsExchange it is the hash that ends it.
test.each(sentBack.filter(([name]) => name !== 'letsexchange'))(
  '%s: a refund whose hash is not there yet is read again, until it is',
  async (name, sendBack) => {
    await start(name)
    Object.assign(rig.exchange.swaps[0] ?? {}, { status: 'refunded' })
    expect(await read()).not.toHaveProperty('refundHash')
    sendBack()
    expect(await read()).toMatchObject({ status: 'refunded', refundHash: 'ef03' })
    const reads = rig.exchange.received('get').length
    await read()
    expect(rig.exchange.received('get')).toHaveLength(reads)
  },
)

describe('letsexchange', () => {
  test('a refund goes on until it has a hash, which ends it', async () => {
    await start('letsexchange')
    becomes({ status: 'refund', return_hash: '' })
    expect(await read()).toMatchObject({ status: 'exchanging' })
    becomes({ status: 'refund', return_hash: 'ef03' })
    expect(await read()).toMatchObject({ status: 'refunded', refundHash: 'ef03' })
    becomes({ status: 'success' })
    expect(await read()).toMatchObject({ status: 'refunded' })
    expect(await waiting()).toEqual([])
  })

  test.each([
    ['50001', 'memo_missing'],
    ['50002', 'late_deposit'],
    ['50003', 'wrong_network'],
    ['50004', 'address_invalid'],
    ['50005', 'provider_error'],
    ['59999', 'other'],
  ])('the code %s is the reason %s, in both forms, until the swap goes on', async (code, reason) => {
    await start('letsexchange')
    becomes({ status: 'error', error_code: code, hash_in: 'ab01' })
    expect(await read('A')).toMatchObject({ attention: 'failed', statusReason: reason })
    expect(await read('B')).toMatchObject({ attention: 'failed', status_reason: reason })
    becomes({ status: 'success', error_code: '', hash_in: 'ab01', hash_out: 'cd02' })
    expect(await read('A')).not.toHaveProperty('statusReason')
  })

  test('a check has the page where the user proves who he is; what was held ends when the swap goes on', async () => {
    await start('letsexchange')
    becomes({ status: 'aml_check_failed', kyc_url: null })
    expect(await read()).toMatchObject({ attention: 'held', statusReason: 'aml' })
    becomes({ status: 'aml_check_failed', kyc_url: 'https://kyc.example/le1' })
    expect(await read('B')).toMatchObject({ attention: 'held', status_reason: 'kyc', support_url: 'https://kyc.example/le1' })
    expect(await waiting()).toEqual(['held'])
    becomes({ status: 'exchanging', kyc_url: 'https://kyc.example/le1' })
    const going = await read()
    expect(going).toMatchObject({ status: 'exchanging', supportUrl: 'https://kyc.example/le1' })
    expect(going).not.toHaveProperty('attention')
    expect(going).not.toHaveProperty('statusReason')
    expect(await waiting()).toEqual([])
  })

  test.each(['javascript:alert(1)', 'http://kyc.example/le1', 'https://me:word@kyc.example/', 'https://kyc.example/"><script>'])(
    'a page %s is no link for anybody',
    async (url) => {
      await start('letsexchange')
      becomes({ status: 'aml_check_failed', kyc_url: url })
      const ownPage = `https://letsexchange.io/?transactionId=${rig.exchange.swaps[0]?.id}`
      expect(await read()).toMatchObject({ supportUrl: ownPage })
      expect(rig.drift()).toEqual(['kyc_url implausible '])
    },
  )
})

describe('sideshift', () => {
  test('a refund with an address goes on by itself, and pages nobody', async () => {
    await start('sideshift')
    becomes({ status: 'refund', issue: 'incorrect amount' })
    expect(await read()).toMatchObject({ status: 'exchanging', statusReason: 'amount_out_of_range' })
    expect(await waiting()).toEqual([])
    becomes({ status: 'refunding', settleHash: 'ef03' })
    expect(await read('B')).toMatchObject({ status: 'exchanging', refund_hash: 'ef03', tx_hash_out: null })
    expect(await waiting()).toEqual([])
  })

  test('one without an address is held until it has one', async () => {
    await start('sideshift', 'A', { refundAddress: undefined })
    becomes({ status: 'refund', issue: 'incorrect amount' })
    expect(await read()).toMatchObject({ attention: 'held', statusReason: 'amount_out_of_range' })
    expect(await waiting()).toEqual(['held'])
    becomes({ status: 'refunding' })
    expect(await read()).not.toHaveProperty('attention')
    expect(await waiting()).toEqual([])
  })
})

describe('changenow', () => {
  test('a swap that waits for its user to choose is held, until he has', async () => {
    await start('changenow')
    becomes({ status: 'expired', actionsAvailable: true, depositReceivedAt: '2026-11-27T10:00:00.000Z' })
    expect(await read()).toMatchObject({ status: 'exchanging', attention: 'held' })
    becomes({ status: 'exchanging', actionsAvailable: false })
    expect(await read()).not.toHaveProperty('attention')
  })

  test.each([{ depositReceivedAt: '2026-11-27T10:00:00.000Z' }, { payinHash: 'ab01' }, { amountFrom: 0.09 }])(
    'what failed after money was seen does not wait for it: %j',
    async (seen) => {
      await start('changenow')
      becomes({ status: 'failed', ...seen })
      expect(await read()).toMatchObject({ status: 'confirmation', attention: 'failed', depositAddress: expect.any(String) })
    },
  )

  test.each(formNames)('and not later either, for form %s', async (form) => {
    await start('changenow', form)
    expect(await read(form)).toMatchObject({ status: 'wait' })
    becomes({ status: 'failed', depositReceivedAt: '2026-11-27T10:00:00.000Z' })
    const failed = await read(form)
    expect(failed).toMatchObject({ status: 'confirmation', attention: 'failed' })
    expect(failed.depositAddress ?? failed.deposit_address).toBe(rig.exchange.swaps[0]?.deposit)
    becomes({ status: 'failed', depositReceivedAt: null })
    expect(await read(form)).toMatchObject({ status: 'confirmation', attention: 'failed' })
  })

  test('what failed before money was seen waits, and nothing may be paid', async () => {
    await start('changenow')
    becomes({ status: 'failed', depositReceivedAt: null })
    const failed = await read()
    expect(failed).toMatchObject({ status: 'wait', attention: 'failed' })
    expect(failed).not.toHaveProperty('depositAddress')
  })
})

test.each([
  ['error', 'provider_error'],
  ['deleted', 'other'],
])('exolix: %s needs a person, and nothing may be paid', async (word, reason) => {
  await start('exolix')
  becomes({ status: word })
  const failed = await read()
  expect(failed).toMatchObject({ status: 'wait', attention: 'failed', statusReason: reason })
  expect(failed).not.toHaveProperty('depositAddress')
  expect(rig.drift()).toEqual([])
})

test('a word that no table has is told, until there is one that is known', async () => {
  await start('stealthex')
  becomes({ status: 'confirming' })
  await read()
  becomes({ status: 'considering' })
  expect(await read()).toMatchObject({ status: 'confirmation', attention: 'unknown_status' })
  expect(await waiting()).toEqual(['unknown_status'])
  becomes({ status: 'exchanging' })
  expect(await read()).not.toHaveProperty('attention')
  expect(await waiting()).toEqual([])
})

test('changelly: a hold names its reason, and the page of the swap', async () => {
  await start('changelly')
  becomesInResult({ status: 'hold' })
  expect(await read()).toMatchObject({ attention: 'held', statusReason: 'aml', supportUrl: expect.stringMatching(/^https:/) })
  becomesInResult({ status: 'hold', kycRequired: true })
  expect(await read('B')).toMatchObject({ attention: 'held', status_reason: 'kyc', support_url: expect.stringMatching(/^https:/) })
})
