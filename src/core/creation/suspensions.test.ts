import { beforeEach, describe, expect, it, vi } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { AssetTable } from '../../domain/asset.ts'
import type { JudgementKind, Observation, Observer } from '../../domain/observation.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import { from } from '../assets/asset-naming.ts'
import { Journal } from '../journal.ts'
import type { JudgedAsset, MismatchStreak } from '../mismatch-streaks.ts'
import type { LedgerChanges } from '../ports/ledger.ts'
import { Suspensions, swappedAsset } from './suspensions.ts'

const minuteMs = 60_000
const asset = { aliases: [], isDefault: true } as const
const tableOf = (...codes: readonly string[]): AssetTable =>
  new AssetTable(
    codes.map((code) => ({ coin: code, name: code, assets: [{ ...asset, code, coin: code, name: code, network: code }] })),
  )
const table = tableOf('BTC', 'ETH')
const named = (code: string) => ({ asset: { code, coin: code, network: code }, sent: { coin: code, network: code } })
const tags = ['alpha', 'other']

function judged(code: string, ...refused: readonly JudgementKind[]): JudgedAsset {
  const { coin, network } = named(code).sent
  const words = { request: { coinFrom: coin, networkFrom: network }, pair: { codeFrom: code }, provider: 'alpha', table }
  return { ...swappedAsset(from, words), network: code, tags, refused }
}
const streak = (code: string, facts: Partial<MismatchStreak> = {}): MismatchStreak => ({
  provider: 'alpha',
  kind: 'amount',
  network: code,
  intents: ['c'],
  ...named(code),
  ...facts,
})
const suspended = (ageMs: number, code = 'BTC', facts: Partial<MismatchStreak> = {}): MismatchStreak =>
  streak(code, { suspension: { since: 1_000, ageMs }, ...facts })

describe('a suspended asset', () => {
  let now: number
  let stored: readonly MismatchStreak[]
  let suspensions: Suspensions
  beforeEach(() => {
    now = 1_000
    stored = []
    suspensions = new Suspensions({ read: async () => stored }, () => now)
  })
  const changesOf = (ledger: object, observe: Observer): LedgerChanges => {
    const journal = new Journal()
    suspensions.listen(journal, observe)
    return journal.changesOf(ledger as LedgerChanges, true)
  }
  const follow = async (...streaks: readonly MismatchStreak[]): Promise<void> => {
    stored = streaks
    await suspensions.follow()
  }
  const isTaken = async (words: ReturnType<typeof named>, own = tags, by = table, received = named('DOGE')): Promise<boolean> => {
    const [tag = ''] = own
    const service = suspensions.layer(providerScope({ tag, accountTags: own, table: by }))({
      call: async () => ({}),
    } as unknown as SwapService)
    const { code, coin, network } = words.asset
    const { code: codeTo, coin: coinTo, network: networkTo } = received.asset
    const pair = { codeFrom: code, coinFrom: coin, networkFrom: network, codeTo, coinTo, networkTo }
    const context = { pair } as unknown as Context
    const request = { coinFrom: words.sent.coin, networkFrom: words.sent.network, coinTo, networkTo } as never
    const calls = (['getRate', 'createTransaction'] as const).map((op) => service.call(op, request, context))
    const [quote, create] = await Promise.allSettled(calls)
    expect(quote?.status).toBe(create?.status)
    if (create?.status === 'rejected') expect(create.reason).toMatchObject({ kind: 'unavailable', effect: 'nothingSent' })
    return create?.status === 'fulfilled'
  }

  it('is refused for what is left of ten minutes, also while the ledger cannot be read', async () => {
    await follow(suspended(4 * minuteMs))
    expect([await isTaken(named('BTC')), await isTaken(named('ETH'))]).toEqual([false, true])
    const read = vi.fn(() => Promise.reject(new Error('lost')))
    Object.assign(suspensions, { store: { read } })
    await expect(suspensions.follow()).rejects.toThrow('lost')
    now += 6 * minuteMs - 1
    expect(await isTaken(named('BTC'))).toBe(false)
    now += 1
    expect(await isTaken(named('BTC'))).toBe(true)
  })

  it('is not refused for longer because the clock of the database is set back', async () => {
    await follow(suspended(0))
    now += 5 * minuteMs
    await follow(suspended(-60 * minuteMs), suspended(-2 * minuteMs))
    now += 5 * minuteMs
    expect(await isTaken(named('BTC'))).toBe(true)
  })

  it('is so at every tag of the account, by the words that were sent there, else by the table', async () => {
    const renamed = { ...named('XBT'), sent: named('BTC').sent }
    const later = tableOf('XBT', 'ETH')
    await follow(suspended(0))
    expect(await isTaken(named('BTC'), ['other', 'alpha'])).toBe(false)
    expect(await isTaken(named('BTC'), ['beta'])).toBe(true)
    expect(await isTaken(renamed, tags, later)).toBe(false)
    expect(await isTaken(renamed, ['other', 'alpha'], later)).toBe(true)
  })

  it.each([
    ['amount', true],
    ['depositAddress', true],
    ['depositMemo', true],
    ['contract', false],
    ['network', false],
  ] as const)('for its %s: as the asset received it is offered: %s', async (kind, isOffered) => {
    await follow(suspended(0, 'BTC', { kind }))
    expect(await isTaken(named('BTC'))).toBe(false)
    expect(await isTaken(named('ETH'), tags, table, named('BTC'))).toBe(isOffered)
  })

  it('that the table lacks is known by its texts', async () => {
    await follow(suspended(0, 'NEW'))
    expect([await isTaken(named('NEW')), await isTaken(named('NEWER'))]).toEqual([false, true])
  })

  it('is offered again once the ledger has it no more', async () => {
    await follow(suspended(0))
    await follow()
    expect(await isTaken(named('BTC'))).toBe(true)
  })

  it('begins and ends in this process with the result that the ledger stores, and is told once', async () => {
    const observations: Observation[] = []
    const results = { complete: [false, true, true], begun: [[], [suspended(0)]] }
    const changes = changesOf(
      { complete: async () => results.complete.shift(), markMismatch: async () => results.begun.shift() },
      (observation) => observations.push(observation),
    )
    const mismatch = () => changes.markMismatch('intent', {} as never, [], [judged('BTC', 'amount')])
    await mismatch()
    expect(await isTaken(named('BTC'))).toBe(true)
    await mismatch()
    expect(await isTaken(named('BTC'))).toBe(false)
    expect(observations).toEqual([{ what: 'suspended', provider: 'alpha', kind: 'amount', network: 'BTC' }])
    await changes.complete('intent', {} as never, [judged('BTC')])
    await changes.complete('intent', {} as never, [judged('ETH')])
    expect(await isTaken(named('BTC'))).toBe(false)
    await changes.complete('intent', {} as never, [judged('BTC')])
    expect(await isTaken(named('BTC'))).toBe(true)
  })

  it('that begins while an older state is read stays', async () => {
    const reading = Promise.withResolvers<readonly MismatchStreak[]>()
    Object.assign(suspensions, { store: { read: () => reading.promise } })
    const following = suspensions.follow()
    const changes = changesOf({ markMismatch: async () => [suspended(0)] }, () => {})
    await changes.markMismatch('intent', {} as never, [], [judged('BTC', 'amount')])
    reading.resolve([])
    await following
    expect(await isTaken(named('BTC'))).toBe(false)
  })
})
