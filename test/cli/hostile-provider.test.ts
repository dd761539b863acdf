// Takes long: each command against each hostile text.
/** docs/contract.md §16: no text of a provider controls the terminal of who runs a command. */
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Amount } from '../../src/domain/amount.ts'
import type { NewTransaction, Transaction } from '../../src/domain/swap.ts'
import { type ProviderA, rateA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { Place } from './place.ts'

/** Sets the title, clears the screen in eight bits and in seven, begins a line that looks like another answer, and writes backwards. */
const hostile = '\u001b]0;owned\u0007\u009b2J\u001b[2J\r\nThe transaction is settled.\u202e\u2028\u007f'
const escaped = '\\u009b2J'

let place: Place
let alpha: ProviderA
let beta: ProviderB
let stores: Awaited<ReturnType<Place['stores']>>
beforeEach(async () => {
  ;[alpha, beta] = [await startFormA(), await startFormB()]
  place = new Place()
  const providers = {
    alpha: { form: 'A', url: alpha.url, key: 'provider-key-1' },
    beta: { form: 'B', url: beta.url, key: 'provider-key-2' },
  }
  const routing = { providers: ['alpha', 'beta'] }
  writeFileSync(place.file, JSON.stringify({ auth: { mode: 'managed' }, ledger: { url: place.ledgerUrl }, providers, routing }))
  stores = await place.stores()
  const row = { icon: hostile, notes: hostile, name: hostile, depositMin: 1, depositMax: 2 }
  alpha.holdings.currencies = [
    ...alpha.holdings.currencies,
    { ...row, code: `X${hostile}`, network: hostile, contract: hostile },
    { ...row, code: 'USDTTRC20', network: 'TRX', contract: hostile },
  ]
  for (const operation of ['rate', 'list', 'get'] as const)
    alpha.reply(operation, { status: 400, json: { error: hostile, message: hostile, code: 400 } })
  await fillLedger()
})
afterEach(async () => {
  await stores.close()
  place[Symbol.dispose]()
  await Promise.all([alpha.close(), beta.close()])
})

async function fillLedger(): Promise<void> {
  const requested: NewTransaction = {
    ...{ coinFrom: 'BTC', networkFrom: 'BTC', coinTo: hostile, networkTo: 'TRX' },
    ...{ amountIn: '0.10' as Amount, withdrawalAddress: hostile, rateType: 'float' },
  }
  const attempted = { owner: 'acme', requested, attemptedAt: Date.now() - 60_000, nextCheckAt: Date.now() }
  for (const id of ['unknown', 'failed', 'differs']) await stores.ledger.begin({ ...attempted, id, provider: 'alpha' })
  await stores.ledger.markUnknown('unknown', Date.now())
  const transaction: Transaction = {
    ...{ ...requested, id: 'tx-1', status: 'wait', attention: 'failed', createdAt: hostile, updatedAt: hostile },
    ...{ depositAddress: hostile, depositExtraId: hostile, txHashIn: hostile },
  }
  await stores.ledger.complete('failed', { transaction, derived: [], reportedAt: Date.now() })
  await stores.ledger.markMismatch('differs', { ...transaction, id: 'tx-2' }, ['withdrawalAddress'])
}

const commands = [
  'ledger unknown',
  'ledger stats',
  'ledger export',
  'ledger resolve unknown --id tx-9',
  'ledger resolve unknown --id tx-9 --force',
  'ledger resolve differs --accept',
  'ledger settle alpha~tx-1 --status refunded --note checked',
  'providers status',
  'providers try alpha',
  'providers diff alpha beta',
  'assets check alpha',
  'keys list',
  'audit',
  'check',
]

describe.each(commands)('swapgate %s', (command) => {
  it.each([[], ['--json']])('prints one line where it prints one, without controls %s', async (...options) => {
    const { out, err } = await place.swapgate(...command.split(' '), ...options)
    expect(out.length + err.length).toBeGreaterThan(0)
    for (const line of [...out, ...err]) expect(line).not.toMatch(/[\p{C}\p{Zl}\p{Zp}]/u)
  })
})

it.each(['ledger unknown', 'ledger export', 'assets check alpha', 'providers diff alpha beta'])(
  'what %s hides is shown, and its JSON has the text as it is',
  async (command) => {
    alpha.reset()
    alpha.reply('rate', ({ query }) => ({ json: rateA(query) }))
    const { out } = await place.swapgate(...command.split(' '))
    expect(out.join('\n')).toContain(escaped)
    const { out: json } = await place.swapgate(...command.split(' '), '--json')
    expect(JSON.stringify(JSON.parse(json.join('\n')))).toContain('\u009b2J')
  },
)
