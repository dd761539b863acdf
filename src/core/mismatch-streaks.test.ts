import { describe, expect, test } from 'vitest'
import type { JudgementKind } from '../domain/observation.ts'
import { afterMismatch, type JudgedAsset, type MismatchStreak } from './mismatch-streaks.ts'

const minuteMs = 60_000
const btc = { asset: { code: 'BTC' }, sent: { coin: 'BTC' }, network: 'BTC' }
const judged = (...refused: readonly JudgementKind[]): JudgedAsset => ({ ...btc, tags: ['alpha'], refused, isOf: () => true })
const suspended = (ageMs: number): MismatchStreak => ({
  ...btc,
  provider: 'alpha',
  kind: 'amount',
  intents: ['c'],
  suspension: { since: 1_000, ageMs },
})

describe('mismatches in a row', () => {
  const countAll = (kinds: readonly (readonly JudgementKind[])[], before: readonly MismatchStreak[] = []) =>
    kinds.reduce((streaks, refused, at) => afterMismatch(streaks, judged(...refused), `intent-${at}`), before)

  test('of one kind: the third suspends, and names the creates', () => {
    expect(countAll([['amount'], ['amount']])).toMatchObject([{ kind: 'amount', intents: ['intent-0', 'intent-1'] }])
    const intents = ['intent-0', 'intent-1', 'intent-2']
    expect(countAll([['amount'], ['amount'], ['amount']])).toMatchObject([{ intents, suspension: { ageMs: 0 } }])
  })

  test('of several kinds do not', () => {
    const streaks = countAll([['amount'], ['depositAddress'], ['amount', 'depositMemo'], ['depositAddress']])
    expect(streaks.every(({ suspension }) => suspension === undefined)).toBe(true)
    expect(streaks.map(({ kind, intents }) => [kind, intents.length]).toSorted()).toEqual([
      ['amount', 2],
      ['depositAddress', 2],
      ['depositMemo', 1],
    ])
  })

  test('that are stored twice count once', () => {
    const [once] = countAll([['amount']])
    expect(afterMismatch([once as MismatchStreak], judged('amount'), 'intent-0')).toEqual([once])
  })

  test.each([
    ['within it', 5 * minuteMs, 0],
    ['after the clock of the database was set back a little', -5 * minuteMs, 0],
    ['after its end', 10 * minuteMs, 1],
    ['after the clock was set back by days', -9_999 * minuteMs, 1],
  ])('under a suspension, %s, are counted anew: %i ms, %i', (_, ageMs, count) => {
    const before = [suspended(ageMs)]
    const streaks = countAll([['amount']], before)
    if (count === 0) return expect(streaks).toBe(before)
    expect(streaks.map(({ intents, suspension }) => ({ intents, suspension }))).toEqual([{ intents: ['intent-0'] }])
  })
})
