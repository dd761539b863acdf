/** The evidence of one create, and parts of it that could differ. */
import { digits } from '../support/json.ts'
import { assets } from '../support/swaps.ts'
import type { Evidence, Holding } from './evidence.ts'
import type { Operation } from './history.ts'
import type { Order, Swap } from './order.ts'
import type { InjectedReply } from './provider/fault.ts'
import type { Journal } from './provider/journal.ts'
import { transactionsIn } from './response-transaction.ts'

export const ordered: Order = {
  from: assets.xrp,
  to: assets.usdtTrx,
  amount: '10.50',
  withdrawalAddress: 'TAcme1',
  refundAddress: 'rAcme1',
  rateType: 'float',
}
export const swap: Swap = {
  ...ordered,
  amount: '10.5',
  id: 'tx-1',
  status: 'wait',
  amountTo: '18050522.000000011',
  depositAddress: 'deposit-alpha-1',
  depositExtraId: 'memo-alpha-1',
  createdAt: '2026-11-20T10:00:00.000Z',
  updatedAt: '2026-11-20T10:00:00.000Z',
}
export const reportedSwap = {
  id: 'alpha~tx-1',
  amount: digits('10.5'),
  amountTo: digits('18050522.000000011'),
  depositAddress: 'deposit-alpha-1',
  depositExtraId: 'memo-alpha-1',
  withdrawalAddress: 'TAcme1',
}

/** A create that a provider received and, unless `swap` is null, applied. */
export function entries({
  provider = 'alpha',
  request = 1,
  at = 1,
  facts = {} as Partial<Swap> | null,
  ending = 201 as InjectedReply,
} = {}): Journal {
  const { withdrawalAddress } = { ...swap, ...facts }
  const body = JSON.stringify({ withdrawalAddress })
  const headers = { authorization: `Bearer provider-key-${provider}` }
  return [
    { what: 'received', at, request, operation: 'create', path: '/api/v2/transactions', headers, body },
    ...(facts ? [{ what: 'applied', request, key: 'provider-key-alpha', swap: { ...swap, ...facts } } as const] : []),
    { what: 'responded', request, ending },
  ]
}

export function create(facts: Partial<Operation> = {}, text = JSON.stringify(reportedSwap)): Operation {
  const transactions = facts.outcome === undefined ? transactionsIn(text) : []
  return {
    client: 'acme',
    kind: 'create',
    input: '',
    order: ordered,
    idempotencyKey: 'one',
    outcome: 'ok',
    text,
    transactions,
    ...facts,
  }
}

export const get = (client: string, text: string): Operation => ({
  client,
  kind: 'get',
  input: '',
  outcome: 'ok',
  text,
  transactions: transactionsIn(text),
})

export const holds = (...ids: string[]): readonly Holding[] => [{ client: 'acme', listed: new Set(ids), got: new Set(ids) }]

export const whole: Evidence = {
  journals: { alpha: entries(), beta: [] },
  operations: [create()],
  holdings: holds('alpha~tx-1'),
  unresolvedAddresses: [],
  exported: [{ id: 'alpha~tx-1', owner: '1' }],
  secrets: {
    clientKeys: ['client-key-acme'],
    providerKeys: { alpha: 'provider-key-alpha', beta: 'provider-key-beta' },
    logs: ['ready'],
  },
}

export const globexOrder = { ...ordered, withdrawalAddress: 'TGlobex1' }
export const globex = create({ client: 'globex', order: globexOrder, outcome: 'info' })
export const second = entries({ request: 2, facts: { id: 'tx-2', depositAddress: 'deposit-alpha-2' } })
