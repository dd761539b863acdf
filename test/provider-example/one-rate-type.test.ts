/** A provider that creates only at a fixed rate, by the id of a quote alone. */
import { describe, expect, it } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { bearer } from '../../src/wire/credential.ts'
import { plainKey } from '../../src/wire/provider-credential.ts'
import { defineProviderForm, providerOperation } from '../../src/wire/provider-form.ts'
import { optional, text } from '../../src/wire/table.ts'
import { known } from '../golden/check.ts'
import type { WireRequest } from '../golden/golden.ts'
import { callProvider } from '../golden-providers/connected.ts'

const pair = { from: 'codeFrom', to: 'codeTo', amount: text('amountIn') } as const
const order = {
  ...pair,
  id: 'id',
  state: 'status',
  receives: text('amountOut'),
  deposit: 'depositAddress',
  payout: 'withdrawalAddress',
  created: 'createdAt',
} as const

const form = defineProviderForm({
  name: 'fixed-only',
  credential: plainKey(bearer()),
  statuses: { open: 'wait' },
  newestFirst: true,
  hasExpectedAmount: true,
  quotedFirst: ['fixed'],
  refusal: { messages: ['message'] },
  operations: {
    getRate: {
      fixed: providerOperation<'getRate'>()({
        at: 'POST /quotes',
        request: pair,
        response: { ...pair, id: 'quoteId', receives: text('amountOut') },
      }),
    },
    createTransaction: {
      fixed: providerOperation<'createTransaction'>()({
        at: 'POST /orders/{quote}',
        request: { quote: 'quoteId', payout: 'withdrawalAddress', refund: optional('refundAddress') },
        isImpliedByQuote: true,
        response: order,
        assumes: ['rateType'],
      }),
    },
  },
})

const query = { codeFrom: 'BTC', codeTo: 'ETH', amountIn: '0.5' }
const create = { ...query, withdrawalAddress: '0x01', rateType: 'fixed' }
const quoted = { from: 'BTC', to: 'ETH', amount: '0.5', id: 'q 1', receives: '8' }
const created = { ...quoted, id: 'o1', state: 'open', deposit: 'bc1', payout: '0x01', created: '2026-07-29T14:04:29Z' }

async function call(op: 'getRate' | 'createTransaction', fields: object) {
  const respond = ({ path }: WireRequest) => ({
    status: 200,
    headers: {},
    body: JSON.stringify(path === '/quotes' ? quoted : created),
  })
  const request = { op, key: undefined, fields: fields as Readonly<Record<string, unknown>> }
  return callProvider(form, request, {}, respond)
}

it('a create sends the id of its quote in the place of what was quoted', async () => {
  const { sent, outcome } = await call('createTransaction', create)
  expect(sent.map(({ path, body }) => [path, JSON.parse(body)])).toEqual([
    ['/quotes', { from: 'BTC', to: 'ETH', amount: '0.5' }],
    ['/orders/q%201', { payout: '0x01' }],
  ])
  expect(known((outcome as { readonly body: object }).body)).toMatchObject({ id: 'o1', amountIn: '0.5', amountOut: '8' })
})

it('what neither the quote nor the create has a line for is refused', async () => {
  const { outcome } = await call('createTransaction', { ...create, withdrawalExtraId: '7' })
  expect(outcome).toMatchObject({ fault: { kind: 'invalid', field: 'withdrawalExtraId' } })
})

describe.each(['getRate', 'createTransaction'] as const)('%s at the other rate', (op) => {
  it('is refused, and nothing is sent', async () => {
    const { sent, outcome } = await call(op, { ...(op === 'getRate' ? query : create), rateType: 'float' })
    expect(sent).toEqual([])
    expect(outcome).toMatchObject({ fault: expect.any(Fault) })
    const details = { kind: 'invalid', field: 'rateType', reason: 'not_offered', effect: 'nothingSent', provider: undefined }
    expect(outcome).toMatchObject({ fault: { ...details, message: 'this swap is offered only with fixed' } })
  })
})
