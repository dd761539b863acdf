// Takes long: nothing is counted in the first 5 s.
/** `swapgate providers drain --wait`: until nothing is open there (docs/contract-operators.md §12). */
import { setTimeout as delay } from 'node:timers/promises'
import { test as base, describe, expect, vi } from 'vitest'
import { facts } from '../ledger/samples.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { SwitchingPlace } from './switching-place.ts'

/** Each test has a place of its own: they mostly wait, and so they run side by side. */
const it = base.extend<{ place: SwitchingPlace }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used from the pattern.
  place: async ({}, use) => {
    using place = new SwitchingPlace()
    await use(place)
  },
}).concurrent

describe('drain --wait', () => {
  it('O11: prints how many are open whenever that changes, and ends with 0 when none is', { timeout: 30_000 }, async ({
    place,
  }) => {
    await place.open()
    const startedAt = performance.now()
    const waiting = place.providers('drain', 'alpha', '--wait')
    const { ledger, ledgerAdmin, close } = await place.stores()
    const until = (ms: number) => delay(startedAt + ms - performance.now())
    await until(6_500)
    const [create] = await ledgerAdmin.unresolved()
    await ledgerAdmin.markNotCreated(create?.intent ?? '', 'tester')
    await until(8_500)
    const before = await ledger.find('owner', 'a1', 'x')
    await ledger.upsert('owner', 'a1', facts('x', { status: 'success' }, { sequence: 1 }), before)
    const { exitCode, out, err } = await waiting
    expect([exitCode, err]).toEqual([0, []])
    expect(out.slice(1)).toEqual([
      '2 open there.',
      'Every running gateway applies this within 5 s.',
      '2 open at alpha',
      '1 open at alpha',
      '0 open at alpha',
    ])
    await close()
  })

  it('W14: waits for a transaction that needs a person, until it is settled', { timeout: 30_000 }, async ({ place }) => {
    const { ledger, close } = await place.stores()
    await ledger.upsert('owner', 'a1', facts('x', { status: 'overdue', attention: 'failed' }, { changedAt: 1, reportedAt: 1 }))
    await close()
    const settle = (status: string, id = 'a1~x') => place.swapgate('ledger', 'settle', id, '--status', status, '--note', 'ticket 7')
    expect((await settle('wait')).exitCode).toBe(2)
    expect(await settle('success', 'a1~y')).toMatchObject({ exitCode: 1, err: ['swapgate: the ledger has no transaction a1~y'] })
    const waiting = place.providers('drain', 'alpha', '--wait', '--timeout', '15s')
    await new Promise((resolve) => setTimeout(resolve, 6_000))
    expect(await place.swapgate('ledger', 'unknown')).toMatchObject({ out: [expect.anything(), expect.stringContaining('a1~x')] })
    expect(await settle('overdue')).toMatchObject({
      exitCode: 0,
      out: ['The transaction a1~x is settled: its client gets the status overdue.', 'Reason: failed.'],
    })
    expect((await waiting).out.slice(-2)).toEqual(['1 open at alpha', '0 open at alpha'])
    const again = await settle('refunded')
    expect([again.exitCode, again.err]).toEqual([1, ['swapgate: the transaction a1~x needs no person: its status is overdue']])
  })

  it('O11: ends with 1 when the time is over, also before it counts', { timeout: 30_000 }, async ({ place }) => {
    await place.open()
    const results = await Promise.all([
      place.providers('drain', 'alpha', '--wait', '--timeout', '6s', '--json'),
      place.providers('drain', 'alpha', '--wait', '--timeout', '1s'),
    ])
    expect(results.map(({ exitCode }) => exitCode)).toEqual([1, 1])
    expect(JSON.parse(results[0]?.out.join('\n') ?? '')).toMatchObject({
      state: 'draining',
      wait: { outcome: 'timedOut', open: 2 },
    })
    expect(results[1]?.err).toEqual(['swapgate: timed out with 2 open at alpha'])
  })

  it('O11: does not end with 0 before 5 s, since creates may still begin', { timeout: 30_000 }, async ({ place }) => {
    const startedAt = performance.now()
    expect((await place.providers('drain', 'alpha', '--wait')).exitCode).toBe(0)
    expect(performance.now() - startedAt).toBeGreaterThan(4_990)
  })

  it('O11: ends with 1 when it is activated meanwhile', { timeout: 30_000 }, async ({ place }) => {
    await place.open()
    const waiting = place.providers('drain', 'alpha', '--wait')
    await vi.waitFor(async () => expect(await place.states()).toMatchObject({ alpha: 'draining' }), eventTimeoutMs)
    await place.providers('activate', 'alpha')
    const { exitCode, err } = await waiting
    expect([exitCode, err]).toEqual([1, ['swapgate: alpha accepts new swaps again']])
  })

  it('O11: in passthrough mode it is refused, and drain alone prints what it can only count', async ({ place }) => {
    place.configure({ mode: 'passthrough' })
    const refused = await place.providers('drain', 'alpha', '--wait', '--force', '--json')
    expect([refused.exitCode, JSON.parse(refused.out.join('\n'))]).toEqual([1, expect.objectContaining({ outcome: 'invalid' })])
    expect(await place.audited()).toEqual([])
    const { exitCode, out } = await place.providers('drain', 'alpha', '--force')
    expect([exitCode, out]).toEqual([0, expect.arrayContaining([expect.stringContaining('as clients last read them')])])
  })

  it('O11: --timeout without --wait is wrong usage', async ({ place }) => {
    expect((await place.providers('drain', 'alpha', '--timeout', '5s')).exitCode).toBe(2)
    expect((await place.providers('drain', 'alpha', '--wait', '--timeout', 'soon')).exitCode).toBe(2)
  })
})
