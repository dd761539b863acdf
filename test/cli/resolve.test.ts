/** docs/contract-operators.md §10.2: a create is bound by hand only to a transaction that the provider itself reports so. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Intent } from '../../src/core/ports/ledger.ts'
import type { Amount } from '../../src/domain/amount.ts'
import type { NewTransaction } from '../../src/domain/swap.ts'
import type { CommandResult } from '../support/command.ts'
import { type ProviderA, startFormA, transactionA } from '../support/form-a.ts'
import { detailedB, type ProviderB, startFormB } from '../support/form-b.ts'
import { digits } from '../support/json.ts'
import { assets, depositOf, type Swap, swap } from '../support/swaps.ts'
import { Place } from './place.ts'

let alpha: ProviderA
let beta: ProviderB
let place: Place
let stores: Awaited<ReturnType<Place['stores']>>
beforeEach(async () => {
  alpha = await startFormA()
  beta = await startFormB()
  place = new Place({ providers: [alpha, beta] })
  stores = await place.stores()
})
afterEach(async () => {
  await stores.close()
  await Promise.all([alpha.close(), beta.close()])
  place[Symbol.dispose]()
})

const attemptedAt = Date.parse('2026-03-01T10:00:00Z')
const requested: NewTransaction = {
  ...{ codeFrom: 'BTC', coinFrom: 'BTC', networkFrom: 'BTC', codeTo: 'USDTTRC20', coinTo: 'USDT', networkTo: 'TRX' },
  amountIn: '0.1' as Amount,
  withdrawalAddress: 'TWithdraw1',
  refundAddress: 'bc1q-refund-1',
  rateType: 'float',
}

async function unknownCreate(more: Partial<Intent> = {}): Promise<void> {
  const made: Intent = {
    id: 'in-doubt',
    owner: 'acme',
    provider: 'alpha',
    requested,
    attemptedAt,
    nextCheckAt: attemptedAt,
    ...more,
  }
  await stores.ledger.begin(made)
  await stores.ledger.markUnknown('in-doubt', attemptedAt)
}
const bind = (id: string, ...more: readonly string[]): Promise<CommandResult> =>
  place.swapgate('ledger', 'resolve', 'in-doubt', '--bind', id, ...more)
const expectRefused = async (result: CommandResult, why: RegExp): Promise<void> => {
  expect(result).toMatchObject({ exitCode: 1, out: [] })
  expect(result.err.join()).toMatch(why)
  expect(await stores.ledgerAdmin.unresolved()).toMatchObject([{ intent: 'in-doubt', state: 'unknown' }])
}

describe.each([
  ['alpha', () => alpha, transactionA],
  ['beta', () => beta, detailedB],
] as const)('at %s', (provider, standIn, reportOf) => {
  it('L29: binds a transaction that matches the request, with the fields that the provider reports', async () => {
    await unknownCreate({ provider })
    standIn().holdings.swaps = [swap({ status: 'exchanging' })]
    expect(await bind('tx-1')).toEqual({
      exitCode: 0,
      out: [
        `The create in-doubt is now the transaction ${provider}~tx-1 of its owner.`,
        'It was attempted at 2026-03-01T10:00:00.000Z and created at 2026-03-01T10:00:00.000Z.',
        'No price was known that it could be compared with.',
      ],
      err: [],
    })
    const entry = await stores.ledger.find('acme', provider, 'tx-1')
    expect(entry?.transaction).toMatchObject({ status: 'exchanging', depositAddress: depositOf('tx-1'), codeTo: 'USDTTRC20' })
    const [get] = standIn().received('get')
    const header = provider === 'alpha' ? get?.headers.authorization : get?.headers['x-api-key']
    expect(header).toContain('provider-key-1')
    expect(standIn().received('list')).toEqual([])
  })

  it('L29: refuses an id that the provider does not have, and so a mistyped one', async () => {
    await unknownCreate({ provider })
    standIn().holdings.swaps = [swap()]
    await expectRefused(await bind('tx-l'), /has no transaction tx-l/)
    await expectRefused(await bind('tx-l', '--force'), /has no transaction tx-l/)
  })

  it.each<[string, Partial<Swap>, RegExp]>([
    ['another amount', { amountIn: digits('0.11') }, /differs in amountIn/],
    ['another coin', { from: assets.eth }, /differs in (code|coin)From/],
    ['another network', { to: assets.usdtEth }, /differs in (code|network)To/],
    ['another address', { withdrawalAddress: 'TOther' }, /differs in withdrawalAddress/],
    ['another refund address', { refundAddress: 'bc1q-other' }, /differs in refundAddress/],
    ['another rate type', { rateType: 'fixed' }, /differs in rateType/],
  ])('L29: refuses a transaction of %s, forced or not', async (_, facts, why) => {
    await unknownCreate({ provider })
    standIn().holdings.swaps = [swap(facts)]
    await expectRefused(await bind('tx-1'), why)
    await expectRefused(await bind('tx-1', '--force'), why)
  })

  it('L29: binds although the provider does not report a field, and prints the field for the operator to judge', async () => {
    await unknownCreate({ provider, requested: { ...requested, withdrawalExtraId: 'memo-7' } })
    standIn().holdings.swaps = [swap()]
    const { exitCode, out } = await bind('tx-1')
    expect([exitCode, out.at(-1)]).toEqual([0, 'The provider does not confirm withdrawalExtraId.'])
    expect((await stores.ledger.find('acme', provider, 'tx-1'))?.transaction.withdrawalExtraId).toBeUndefined()
  })

  it.each([
    ['fails', { status: 500, json: {} }],
    ['refuses the key', { status: 401, json: { message: 'no' } }],
    ['breaks off', { reset: true }],
    ['returns nonsense', { text: 'nonsense' }],
  ])('L29: while the provider %s, only --force binds', async (_, reply) => {
    await unknownCreate({ provider })
    standIn().reply('get', reply)
    await expectRefused(await bind('tx-1'), /cannot be read at the provider: .+; --force binds it without reading/)
    const { exitCode, out } = await bind('tx-1', '--force')
    expect([exitCode, out.at(-1)]).toEqual([0, 'Its deposit address is judged at the first get that has one.'])
  })

  it('L29: refuses a response about another id', async () => {
    await unknownCreate({ provider })
    standIn().reply('get', { json: reportOf(swap({ id: 'tx-2' })) })
    await expectRefused(await bind('tx-1'), /returned another transaction/)
  })

  it('L29: refuses what another create holds', async () => {
    await unknownCreate({ provider })
    await stores.ledger.begin({ id: 'done', owner: 'umbrella', provider, requested, attemptedAt, nextCheckAt: attemptedAt })
    const facts = {
      transaction: { id: 'tx-1', amountIn: requested.amountIn, createdAt: '2026-03-01T10:00:00Z' },
      derived: [],
      reportedAt: 1,
    }
    await stores.ledger.complete('done', facts)
    standIn().holdings.swaps = [swap()]
    await expectRefused(await bind('tx-1'), /already in the ledger/)
    await expectRefused(await bind('tx-1', '--force'), /already in the ledger/)
  })
})

it('L29: a provider that is not configured any more cannot be read', async () => {
  await unknownCreate({ provider: 'gone' })
  await expectRefused(await bind('tx-1'), /no longer configured; --force binds it without reading/)
  expect((await bind('tx-1', '--force')).exitCode).toBe(0)
})

it('L29: a mismatch is bound only once the provider has put right what it reported', async () => {
  await unknownCreate()
  await stores.ledger.markMismatch('in-doubt', { id: 'tx-1', amountIn: requested.amountIn, createdAt: '2026-03-01T10:00:00Z' }, [
    'coinTo',
  ])
  alpha.holdings.swaps = [swap({ to: assets.usdtEth })]
  expect((await bind('tx-1')).exitCode).toBe(1)
  alpha.holdings.swaps = [swap()]
  expect((await bind('tx-1')).exitCode).toBe(0)
})

it('a mismatch can be accepted, and nothing else', async () => {
  await unknownCreate()
  const accept = (...despite: readonly string[]) => place.swapgate('ledger', 'resolve', 'in-doubt', '--accept', ...despite)
  await expectRefused(await accept(), /is no mismatch/)
  const reported = { id: 'tx-1', amountIn: '0.2' as Amount, depositAddress: depositOf('tx-1'), createdAt: '2026-03-01T10:00:00Z' }
  await stores.ledger.markMismatch('in-doubt', reported, ['amountIn'])
  for (const despite of [[], ['--despite', 'amountOut']]) {
    const refused = await accept(...despite)
    expect([refused.exitCode, refused.err.join()]).toEqual([
      1,
      expect.stringMatching(/differs from the request in amountIn; --despite amountIn does it all the same/),
    ])
  }
  expect(await stores.ledger.find('acme', 'alpha', 'tx-1')).toBeUndefined()
  expect(await accept('--despite', 'amountIn')).toMatchObject({
    exitCode: 0,
    out: [expect.stringMatching(/alpha~tx-1 of its owner.*differs in amountIn/)],
  })
  const [record] = await stores.audit.read({})
  expect(record).toMatchObject({ action: 'ledger.resolve', after: { despite: ['amountIn'] } })
  const entry = await stores.ledger.find('acme', 'alpha', 'tx-1')
  expect(entry?.transaction).toMatchObject({ depositAddress: depositOf('tx-1'), amountIn: '0.2' })
})

describe('what a person may not overlook', () => {
  const accept = (...more: readonly string[]) => place.swapgate('ledger', 'resolve', 'in-doubt', '--accept', ...more)
  const fixed = { ...requested, rateType: 'fixed' } as NewTransaction
  const quote = { source: 'own', amountIn: '0.1' as Amount, amountOut: '100' as Amount } as const
  const response = {
    id: 'tx-1',
    amountIn: '0.1' as Amount,
    amountOut: '60' as Amount,
    depositAddress: depositOf('tx-1'),
    createdAt: '2026-03-01T10:00:00Z',
  }

  it('what a refused create has made all the same, and what contradicts it, is not accepted without its name', async () => {
    await unknownCreate()
    await stores.ledger.drop('in-doubt', attemptedAt)
    const [refused] = await stores.ledger.dueRefusedCreates(attemptedAt, 1, undefined)
    if (!refused) throw new Error('no check is due')
    await stores.ledger.keepRefused(refused, { ...response, withdrawalAddress: 'TOther' }, ['withdrawalAddress'])
    expect(await accept()).toMatchObject({
      exitCode: 1,
      err: [expect.stringContaining('differs from the request in withdrawalAddress')],
    })
    const preview = await place.swapgate('ledger', 'settle-all', '--provider', 'alpha', '--accept', '--note', 'n')
    expect(preview).toMatchObject({
      exitCode: 1,
      out: expect.arrayContaining([expect.stringContaining('differs from the request')]),
    })
    expect((await accept('--despite', 'withdrawalAddress')).exitCode).toBe(0)
  })

  it('a mismatch by its price is not bound by a get that says nothing of the price', async () => {
    await unknownCreate({ provider: 'beta', requested: fixed, quote })
    await stores.ledger.markMismatch('in-doubt', response, ['amountOut'])
    beta.reply('get', { json: { ...detailedB(swap({ rateType: 'fixed' })), amount_out: null } })
    expect(await bind('tx-1')).toMatchObject({ exitCode: 1, err: [expect.stringContaining('differs in amountOut')] })
    expect((await bind('tx-1', '--despite', 'amountOut')).exitCode).toBe(0)
  })

  it('a mismatch by its price is bound once the provider names the price of the quote', async () => {
    await unknownCreate({ requested: fixed, quote })
    await stores.ledger.markMismatch('in-doubt', response, ['amountOut'])
    alpha.holdings.swaps = [swap({ rateType: 'fixed', amountOut: digits('60') })]
    expect((await bind('tx-1')).exitCode).toBe(1)
    alpha.holdings.swaps = [swap({ rateType: 'fixed', amountOut: digits('100') })]
    expect((await bind('tx-1')).exitCode).toBe(0)
  })

  it.each<[string, NewTransaction, object, object, string]>([
    ['less than the client was quoted', fixed, { source: 'winner' }, {}, 'amountOut'],
    [
      'nothing to be sent',
      { ...requested, amountIn: undefined, amountOut: '60' as Amount },
      { source: 'own' },
      { amountIn: '0' as Amount },
      'amountIn',
    ],
  ])(
    'a response that promises %s is not accepted without its name where the file only counts amounts',
    async (_, terms, more, facts, field) => {
      await unknownCreate({ requested: terms, quote: { ...quote, ...more } })
      await stores.ledger.markMismatch('in-doubt', { ...response, ...facts }, [field])
      const provider = { form: 'A', url: alpha.url, key: 'provider-key-1', judge: { amount: 'count' } }
      place.write(`providers: { alpha: ${JSON.stringify(provider)} }\nrouting: { providers: [alpha] }\nauth: { mode: managed }\n`)
      expect(await accept()).toMatchObject({ exitCode: 1, err: [expect.stringContaining(`differs from the request in ${field}`)] })
      expect((await accept('--despite', field)).exitCode).toBe(0)
    },
  )
})
