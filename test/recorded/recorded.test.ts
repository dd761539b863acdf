/** Responses of real providers, byte for byte: `README.md` has their source. */
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

const inFolder = (file: string): string => readFileSync(join(import.meta.dirname, file), 'utf8')
const recorded = (file: string): string => inFolder(`exolix/${file}`)

const rate: GoldenRequest = {
  op: 'getRate',
  key: undefined,
  fields: { coinFrom: 'BTC', coinTo: 'XMR', amountIn: '1', rateType: 'float' },
}

function connectedTo(form: Form, create: GoldenRequest, status: number, file: string): Promise<Connected> {
  return callConnected(form, create, { status, headers: {}, body: recorded(file) })
}

it.each([
  ['changenow/by_id.json', '24a33b273da9899c181dbf687540179fc037610c4846808ee836a7332d4ce406'],
  ['changenow/create_exchange.json', '6cb03ed6370d1831991c1552240ab274e2ff05c588866ab956d636cd63fdd134'],
  ['changenow/estimated_amount.json', 'f648ede7dafc2d1a7e578f9755f3ead34239826ad68cebb4072df9ed5364b177'],
  ['changenow/estimated_amount_below_min.400.json', '47c54822c5fb22f271b8a3030b9a7fcceda23f3e31cad2bade8fb24ca9854fef'],
  ['changenow/range.json', 'd8491e051d2eaa17b0ce767deed82bbf9c3cc68c16732beb9e0f04324cd11247'],
  ['exolix/create_transaction.json', 'a771be674b6e67dda99f7af3ff60ae10b45ba37d973d5b96358d7a39751e9e72'],
  ['exolix/rate.json', 'a68fb14cd2078a87399414db098ca985d1569d4346c8683785966a66660e0279'],
  ['exolix/rate_below_min.422.json', '0062eb640565ef82cd3bbae5efda231380720399e345d82485dcd94fa48ca57c'],
  ['exolix/rate_fixed.json', '0c39318c107f80ea3870a724adcbc19a659df4bce38206b6f8a2dd6519b95aa0'],
  ['letsexchange/create_transaction.json', '61e6130d6c116235c97cd92f8616ac0bfe7f06f8ab19f11e006184b0d31bba2c'],
  ['letsexchange/info.json', '1c08f68e0c61d87bb36bd951ff9d2bad8e7a5d7b6ba4177f1d05e1add9312160'],
  ['letsexchange/info_bad_request.json', 'edca7a2298b5c0f6740d69878c80da2660afdb9066f37d5254ba5f5c38c96957'],
  ['letsexchange/info_revert.json', '1886edafc478391f94824e2e4f5a0e4ac5409d5721f4bdd54f6051c14d0274f5'],
  ['letsexchange/transaction.json', '8a4d46d4afee124a2eb4bd6bdc63b9794800975883e7a8f875873776c55d4db7'],
  ['sideshift/pair_unknown.json', '7c2b1aa5506ceb283e8d95ce8f03ff91479d25a70f86c65997294afb0950f2a2'],
  ['sideshift/pair_with_amount.json', 'b863c6b8fe18f40adfc0bae5e91148c6bd3e7dda43b88c60c90eff04299f124a'],
  ['stealthex/create_exchange.json', 'ea9096e871f971ae9b1d90c6467dd20585369328305c494455c8f639499e8357'],
  ['stealthex/exchange.json', '4c317481e11922f0b8660d447f5301076c5833603b4623ab66f2cf958843164c'],
  ['stealthex/rates_estimated_amount.json', '84073bed3114d32b9a60001c6078a08d26e869bac75e3b1c809cf217136bc55f'],
  ['stealthex/rates_range.json', '7a22fcfd405dc431eb384d5fbbf5a1ec694dd942b4b082834208692e62273ad3'],
  ['stealthex/rates_range_no_pair.404.json', 'b80e54864349396287f3a46d665952d08fe54d81611c4f99628bb54dc4710b8c'],
])('%s is as it was recorded', (file, expected) => {
  expect(createHash('sha256').update(inFolder(file)).digest('hex')).toBe(expected)
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
  expect(outcome).toMatchObject({ fault: { kind: 'invalid', message, effect: 'refused' } })
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
    expect(outcome).toMatchObject({ fault: { kind: 'unreadable', provider: 'alpha', effect: 'maybe' } })
    expect((outcome as { readonly fault: Error }).fault.message).not.toMatch(/0x|6880e2730aee2e/)
    expect(drift.at(-1)).toBe(`${field} unreadable`)
  })
})
