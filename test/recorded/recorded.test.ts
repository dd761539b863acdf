/** Responses of a real provider, byte for byte: `README.md` has their source. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formA } from '../../src/forms/a.ts'
import { formB } from '../../src/forms/b.ts'
import type { Form } from '../../src/wire/form.ts'
import { known } from '../golden/check.ts'
import { type Connected, callConnected, callServed } from '../golden/edges.ts'
import type { GoldenRequest } from '../golden/golden.ts'

const recorded = (file: string): string => readFileSync(join(import.meta.dirname, 'exolix', file), 'utf8')

const rate: GoldenRequest = {
  op: 'getRate',
  key: undefined,
  fields: { coinFrom: 'BTC', coinTo: 'XMR', amountIn: '1', rateType: 'float' },
}

function connectedTo(form: Form, create: GoldenRequest, status: number, file: string): Promise<Connected> {
  return callConnected(form, create, { status, headers: {}, body: recorded(file) })
}

it.each([
  ['create_transaction.json', 'a771be674b6e67dda99f7af3ff60ae10b45ba37d973d5b96358d7a39751e9e72'],
  ['rate.json', 'a68fb14cd2078a87399414db098ca985d1569d4346c8683785966a66660e0279'],
  ['rate_below_min.422.json', '0062eb640565ef82cd3bbae5efda231380720399e345d82485dcd94fa48ca57c'],
  ['rate_fixed.json', '0c39318c107f80ea3870a724adcbc19a659df4bce38206b6f8a2dd6519b95aa0'],
])('%s is as it was recorded', (file, expected) => {
  expect(createHash('sha256').update(recorded(file)).digest('hex')).toBe(expected)
})

describe('a recorded rate', () => {
  it.each([
    ['rate.json', '179.3809942'],
    ['rate_fixed.json', '178.62528992'],
  ])('%s is of Form B; what the form does not know is dropped and counted', async (file, out) => {
    const { outcome, drift } = await connectedTo(formB, rate, 200, file)
    const body = { amountIn: '1', amountOut: out, rate: out, minAmount: '0.00007747', maxAmount: '10' }
    expect(known(outcome)).toEqual({ body })
    expect(drift).toEqual(['_other unknownField', '_other unknownField'])
  })

  it('reaches a client of Form B with the digits that it came with', async () => {
    const { outcome } = await connectedTo(formB, rate, 200, 'rate.json')
    const body = (outcome as { readonly body: Readonly<Record<string, unknown>> }).body
    const request = { method: 'GET', path: '/rate', query: 'coinFrom=BTC&coinTo=XMR&amount=1', headers: {}, body: '' }
    const { response } = await callServed(formB, request, { fault: undefined, derived: [], provider: 'alpha', body })
    for (const lexeme of ['179.3809942', '0.00007747']) expect(response.body).toMatch(new RegExp(`:${RegExp.escape(lexeme)}[,}]`))
    expect(response.body).not.toMatch(/withdrawMin|priceImpact/)
  })

  it('is not of Form A', async () => {
    const requested = { codeFrom: 'BTC', codeTo: 'XMR', amountIn: '1', rateType: 'float' }
    const { outcome } = await connectedTo(formA, { ...rate, fields: requested }, 200, 'rate.json')
    expect(outcome).toMatchObject({ fault: { kind: 'unreadable' } })
  })
})

it('a recorded refusal below the minimum is the client’s, with the limits in the provider’s digits at its end', async () => {
  const { outcome } = await connectedTo(formB, rate, 422, 'rate_below_min.422.json')
  const message = 'Amount to exchange is below the possible min amount to exchange. Minimum 0.00007747, maximum 10.'
  expect(outcome).toMatchObject({ fault: { kind: 'invalid', message, noEffect: true } })
})

it('a recorded refusal leaves as 400 in either form', async () => {
  const { outcome } = await connectedTo(formB, rate, 422, 'rate_below_min.422.json')
  const { message } = (outcome as { readonly fault: Error }).fault
  const queries = [
    [formA, 'coinFrom=BTC&coinTo=XMR&amount=1'],
    [formB, 'coinFrom=BTC&coinTo=XMR&amount=1&networkTo=XMR'],
  ] as const
  for (const [form, query] of queries) {
    const request = { method: 'GET', path: '/rate', query, headers: {}, body: '' }
    const { response } = await callServed(form, request, { fault: 'invalid', derived: [], provider: 'alpha', body: { message } })
    expect(response.status).toBe(400)
    const errorBody = JSON.parse(response.body) as { readonly message: string; readonly code: number }
    expect(errorBody.message).toMatch(/ Minimum 0\.00007747, maximum 10\.$/)
    expect(errorBody.code).toBe(400)
  }
})

describe('a recorded transaction, whose coins are objects', () => {
  const requested = { amountIn: '0.01', withdrawalAddress: '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C', rateType: 'float' }

  it.each([
    [formA, { codeFrom: 'ETH', codeTo: 'USDTERC20' }, 'coinFrom'],
    [formB, { coinFrom: 'ETH', networkFrom: 'ETH', coinTo: 'USDT', networkTo: 'ETH' }, 'coin_from'],
  ])('is not of Form $name, so its deposit address reaches no client', async (form, pair, field) => {
    const create: GoldenRequest = { op: 'createTransaction', key: 'key-1', fields: { ...requested, ...pair } }
    const { outcome, drift } = await connectedTo(form, create, 201, 'create_transaction.json')
    expect(outcome).toMatchObject({ fault: { kind: 'unreadable', provider: 'alpha', noEffect: false } })
    expect((outcome as { readonly fault: Error }).fault.message).not.toMatch(/0x|6880e2730aee2e/)
    expect(drift.at(-1)).toBe(`${field} unreadable`)
  })
})
