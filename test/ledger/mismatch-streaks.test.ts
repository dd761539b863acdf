/** The port of suspended assets, in every store: mismatches in a row are counted with the results of creates. */
import { expect, test } from 'vitest'
import type { JudgedAsset, MismatchStreak } from '../../src/core/mismatch-streaks.ts'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import type { JudgementKind } from '../../src/domain/observation.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { query } from './raw.ts'
import { facts, intent } from './samples.ts'
import { allStores, describeStores, durableStores } from './stores.ts'

function judged(code: string, refused: readonly JudgementKind[] = ['amount'], tags = ['alpha']): JudgedAsset {
  const asset = { code, coin: code, network: code }
  return { tags, asset, sent: { coin: code }, network: code, refused, isOf: ({ asset: other }) => other.code === code }
}
const begun = async (ledger: Ledger, [about]: readonly JudgedAsset[]): Promise<string> => {
  const create = intent({ provider: about?.tags[0] ?? '' })
  await ledger.begin(create)
  return create.id
}
const mismatch = async (ledger: Ledger, ...about: readonly JudgedAsset[]): Promise<MismatchStreak | undefined> => {
  const id = await begun(ledger, about)
  const [streak, ...others] = await ledger.markMismatch(id, facts(id).transaction, ['amountIn'], about)
  expect(others).toEqual([])
  return streak
}
const pass = async (ledger: Ledger, ...about: readonly JudgedAsset[]): Promise<boolean> => {
  const id = await begun(ledger, about)
  return await ledger.complete(id, facts(id), about)
}

describeStores(allStores, (shared) => {
  test('the third in a row begins a suspension, with its creates, and others are not counted while it lasts', async () => {
    const { ledger, suspensions } = await shared().openNew()
    expect(await mismatch(ledger, judged('BTC'))).toBeUndefined()
    expect(await mismatch(ledger, judged('ETH'))).toBeUndefined()
    expect(await mismatch(ledger, judged('BTC'))).toBeUndefined()
    expect(await suspensions.read()).toEqual([])
    const third = await mismatch(ledger, judged('BTC'))
    expect(third).toMatchObject({
      provider: 'alpha',
      kind: 'amount',
      asset: { code: 'BTC' },
      sent: { coin: 'BTC' },
      network: 'BTC',
    })
    expect(third?.intents).toHaveLength(3)
    const [read, ...others] = await suspensions.read()
    expect(others).toEqual([])
    expect(read).toEqual({ ...third, suspension: { since: third?.suspension?.since, ageMs: expect.any(Number) } })
    expect(Math.abs((read?.suspension?.since ?? 0) - Date.now())).toBeLessThan(60_000)
    expect(await mismatch(ledger, judged('BTC'))).toBeUndefined()
    expect((await suspensions.read())[0]?.intents).toEqual(third?.intents)
  })

  test('a create that passes ends the row and the suspension of its asset, over all tags of the account', async () => {
    const { ledger, suspensions } = await shared().openNew()
    const at = (tag: string, code: string, refused?: readonly JudgementKind[]) =>
      judged(code, refused, [tag, ...['alpha', 'other'].filter((one) => one !== tag)])
    await mismatch(ledger, at('alpha', 'BTC'))
    await mismatch(ledger, at('other', 'BTC'))
    expect(await pass(ledger, at('other', 'ETH', []))).toBe(true)
    expect(await mismatch(ledger, at('alpha', 'BTC'))).toMatchObject({ provider: 'alpha' })
    await pass(ledger, at('other', 'BTC', []))
    expect(await suspensions.read()).toEqual([])
    await mismatch(ledger, at('alpha', 'BTC'))
    await mismatch(ledger, at('alpha', 'BTC'))
    await pass(ledger, at('alpha', 'BTC', []))
    expect(await mismatch(ledger, at('alpha', 'BTC'))).toBeUndefined()
  })

  test('both assets of a create are counted, each by itself, and both end with one that passes', async () => {
    const { ledger, suspensions } = await shared().openNew()
    for (const code of ['BTC', 'ETH']) await mismatch(ledger, judged(code, ['amount']), judged('USDT', ['contract']))
    expect(await mismatch(ledger, judged('LTC', []), judged('USDT', ['contract']))).toMatchObject({ asset: { code: 'USDT' } })
    expect(await mismatch(ledger, judged('BTC', ['amount']), judged('DOGE', []))).toBeUndefined()
    await pass(ledger, judged('BTC', []), judged('USDT', []))
    expect(await suspensions.read()).toEqual([])
    expect(await mismatch(ledger, judged('BTC', ['amount']))).toBeUndefined()
  })

  test('a result that is stored twice counts once; one without a kind, and one whose id another create has, do nothing', async () => {
    const { ledger, suspensions } = await shared().openNew()
    const create = intent()
    await ledger.begin(create)
    for (const about of [judged('BTC'), judged('BTC'), judged('BTC')])
      expect(await ledger.markMismatch(create.id, facts('x').transaction, ['amountIn'], [about])).toEqual([])
    await mismatch(ledger, judged('BTC', []))
    await mismatch(ledger, judged('BTC'))
    const taken = intent()
    await ledger.begin(taken)
    const other = intent()
    await ledger.begin(other)
    await ledger.complete(other.id, facts('y'))
    expect(await ledger.complete(taken.id, facts('y'), [judged('BTC', [])])).toBe(false)
    expect(await suspensions.read()).toEqual([])
    expect(await mismatch(ledger, judged('BTC'))).toMatchObject({ kind: 'amount' })
  })

  test('a reset ends what is counted and suspended at these tags alone, with a record where an asset was suspended', async () => {
    const { ledger, suspensions, overrides, audit } = await shared().openNew()
    for (const tag of ['alpha', 'beta'])
      for (let at = 0; at < 3; at++) await mismatch(ledger, judged('BTC', ['depositAddress'], [tag]))
    await mismatch(ledger, judged('ETH', ['amount'], ['gamma']))
    await mismatch(ledger, judged('ETH', ['amount'], ['gamma']))
    const names = new Map([
      ['alpha', 'first'],
      ['gamma', 'third'],
    ])
    expect(await overrides.change([], 'alice', undefined, names)).toBe(true)
    expect((await suspensions.read()).map(({ provider }) => provider)).toEqual(['beta'])
    expect(await audit.read({})).toMatchObject([
      { actor: 'alice', action: 'provider.resume', subject: 'first', before: [{ kind: 'depositAddress', asset: 'BTC' }] },
    ])
    expect(await mismatch(ledger, judged('ETH', ['amount'], ['gamma']))).toBeUndefined()
  })
})

describeStores(durableStores, (shared) => {
  test('two processes count together, also at the same moment, and both read what is suspended', async () => {
    const { url, ledger, suspensions } = await shared().openNew()
    const other = await openLedger(url)
    await mismatch(ledger, judged('BTC'))
    const both = await Promise.all([ledger, other.ledger].map((each) => mismatch(each, judged('BTC'))))
    expect(both.filter((streak) => streak !== undefined)).toHaveLength(1)
    const read = async (store: typeof suspensions) => (await store.read()).map(({ intents }) => intents)
    expect(await read(other.suspensions)).toEqual(await read(suspensions))
    await other.close()
  })

  test('a row of mismatches to which none was added for a week is forgotten', async () => {
    const { url, ledger } = await shared().openNew()
    await mismatch(ledger, judged('BTC'))
    await mismatch(ledger, judged('BTC'))
    await query(url, `UPDATE mismatch_streaks SET changed_at = changed_at - ${7 * 86_400_000 + 1}`)
    expect(await mismatch(ledger, judged('BTC'))).toBeUndefined()
  })
})
