import type { LookupAddress, LookupOptions } from 'node:dns'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { NameLookup } from './lookup.ts'

const one: LookupAddress = { address: '192.0.2.1', family: 4 }
const other: LookupAddress = { address: '2001:db8::2', family: 6 }

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] }))
afterEach(() => void vi.useRealTimers())

/** Names over a system whose look-ups end only when the test answers them. */
function rig(maxLookups = 2, maxOfAccount = maxLookups) {
  const asked: { hostname: string; options: LookupOptions; end: (reason: Error | null, addresses: LookupAddress[]) => void }[] = []
  const names = new NameLookup({
    maxLookups,
    maxOfAccount,
    system: (hostname, options, end) => void asked.push({ hostname, options, end }),
  })
  const results: unknown[] = []
  const ask = (hostname: string, { isFresh = false, ...options }: LookupOptions & { isFresh?: boolean } = {}): void =>
    names[isFresh ? 'freshLookup' : 'lookup'](hostname, options, (reason, address) => results.push(reason ? reason.code : address))
  const askFor = (account: string, hostname: string): void =>
    names.lookupOf(account)(hostname, {}, (reason, address) => results.push(reason ? reason.code : address))
  const seen = async (): Promise<unknown[]> => {
    vi.advanceTimersByTime(0)
    await new Promise((ticked) => process.nextTick(ticked))
    return results.splice(0)
  }
  const answer = (...addresses: LookupAddress[]): void => asked.shift()?.end(null, addresses)
  const fail = (code: string): void => asked.shift()?.end(Object.assign(new Error('no'), { code }), [])
  return { ask, askFor, asked, answer, fail, seen }
}

test('all who wait for a name share one look-up, and get all addresses or the first', async () => {
  const { ask, asked, answer, seen } = rig()
  for (const all of [true, false]) ask('alpha.example', { all })
  expect(asked).toMatchObject([{ hostname: 'alpha.example', options: { all: true } }])
  answer(one, other)
  expect(await seen()).toEqual([[one, other], one.address])
})

test('another family is another look-up, with the options of its caller', () => {
  const { ask, asked } = rig()
  ask('alpha.example', { family: 4 })
  ask('alpha.example', { family: 6, hints: 32 })
  expect(asked).toMatchObject([{ options: { family: 4 } }, { options: { family: 6, hints: 32 } }])
})

test('a waiter gives up after 1.5 s, and the look-up goes on for those who come later', async () => {
  const { ask, asked, answer, seen } = rig()
  ask('alpha.example')
  vi.advanceTimersByTime(1_000)
  ask('alpha.example')
  expect(await seen()).toEqual([])
  vi.advanceTimersByTime(500)
  expect(await seen()).toEqual(['dns_timeout'])
  expect(asked).toHaveLength(1)
  answer(one)
  expect(await seen()).toEqual([one.address])
  expect(vi.getTimerCount()).toBe(0)
})

test('once a waiter has given up, later ones do so at once', async () => {
  const { ask, answer, seen } = rig()
  ask('alpha.example')
  vi.advanceTimersByTime(1_500)
  ask('alpha.example')
  expect(await seen()).toEqual(['dns_timeout', 'dns_timeout'])
  answer(one)
  ask('alpha.example')
  expect(await seen()).toEqual([one.address])
})

test('after a look-up without an answer, the next one is waited for 0.5 s from its beginning', async () => {
  const { ask, fail, seen } = rig()
  ask('alpha.example')
  fail('EAI_AGAIN')
  ask('alpha.example')
  vi.advanceTimersByTime(499)
  expect(await seen()).toEqual(['EAI_AGAIN'])
  vi.advanceTimersByTime(1)
  ask('alpha.example')
  expect(await seen()).toEqual(['dns_timeout', 'dns_timeout'])
})

test('an answer is kept for 30 s, but not for a connection to a store', async () => {
  const { ask, asked, answer, seen } = rig()
  ask('alpha.example')
  answer(one)
  vi.advanceTimersByTime(29_999)
  ask('alpha.example')
  expect(await seen()).toEqual([one.address, one.address])
  expect(asked).toHaveLength(0)
  ask('alpha.example', { isFresh: true })
  expect(asked).toHaveLength(1)
  answer(other)
  expect(await seen()).toEqual([other.address])
})

test('of many names those that are used are kept: receivers of webhooks cost no provider its answer', async () => {
  const { ask, asked, answer, seen } = rig(2_000)
  ask('provider.example')
  answer(one)
  for (let at = 0; at < 1_500; at++) {
    ask(`hooks-${at}.example`, { isFresh: true })
    answer(other)
    if (at % 500 === 0) ask('provider.example')
  }
  await seen()
  ask('provider.example')
  expect(asked).toHaveLength(0)
  expect(await seen()).toEqual([one.address])
})

describe.each([
  ['a provider', false],
  ['a store', true],
])('for a connection to %s', (_, isFresh) => {
  /** An answer that is older than 30 s. */
  async function aged(ms = 30_000) {
    const made = rig()
    made.ask('alpha.example')
    made.answer(one)
    await made.seen()
    vi.advanceTimersByTime(ms)
    return { ...made, ask: () => made.ask('alpha.example', { isFresh }) }
  }

  test('an older answer is used while the look-up is silent: after 0.5 s, then at once', async () => {
    const { ask, asked, seen } = await aged()
    ask()
    vi.advanceTimersByTime(499)
    expect(await seen()).toEqual([])
    vi.advanceTimersByTime(1)
    expect(await seen()).toEqual([one.address])
    ask()
    expect(await seen()).toEqual([one.address])
    expect(asked).toHaveLength(1)
  })

  test.each(['EAI_AGAIN', 'EAI_FAIL'])('an older answer is used if the look-up fails with %s', async (code) => {
    const { ask, fail, seen } = await aged(629_999)
    ask()
    fail(code)
    expect(await seen()).toEqual([one.address])
  })

  test('no answer is used for longer than 10.5 minutes', async () => {
    const { ask, fail, seen } = await aged(630_000)
    ask()
    fail('EAI_AGAIN')
    expect(await seen()).toEqual(['EAI_AGAIN'])
  })

  test('no answer is used after "no such name"', async () => {
    const { ask, fail, seen } = await aged()
    ask()
    fail('ENOTFOUND')
    ask()
    fail('EAI_AGAIN')
    expect(await seen()).toEqual(['ENOTFOUND', 'EAI_AGAIN'])
  })

  test('a new answer takes the place of the older one', async () => {
    const { ask, answer, seen } = await aged()
    ask()
    answer(other)
    expect(await seen()).toEqual([other.address])
  })
})

describe('if all threads for look-ups are taken', () => {
  test('by silent ones, a name without an answer is refused at once, and one with an answer is not', async () => {
    const { ask, asked, answer, seen } = rig()
    ask('known.example')
    answer(one)
    await seen()
    vi.advanceTimersByTime(30_000)
    for (const silent of ['a.example', 'b.example']) ask(silent)
    vi.advanceTimersByTime(500)
    for (const name of ['c.example', 'known.example']) ask(name)
    expect(await seen()).toEqual(['dns_timeout', one.address])
    expect(asked).toHaveLength(2)
  })

  test('by others, a name waits for one of them', async () => {
    const { ask, asked, answer, seen } = rig()
    for (const name of ['a.example', 'b.example', 'c.example']) ask(name)
    expect(asked).toHaveLength(2)
    answer(one)
    expect(asked.map(({ hostname }) => hostname)).toEqual(['b.example', 'c.example'])
    answer(one)
    answer(other)
    expect(await seen()).toEqual([one.address, one.address, other.address])
  })

  test('a name that waits for them is refused after 0.5 s', async () => {
    const { ask, seen } = rig()
    for (const name of ['a.example', 'b.example', 'c.example']) ask(name)
    vi.advanceTimersByTime(500)
    expect(await seen()).toEqual(['dns_timeout'])
  })

  test('names without an answer leave one thread to those that had one, or were never asked for', async () => {
    const { ask, asked, answer, fail, seen } = rig()
    for (const name of ['a.example', 'b.example']) ask(name)
    for (let times = 0; times < 2; times++) fail('EAI_AGAIN')
    await seen()
    for (const name of ['a.example', 'b.example']) ask(name)
    vi.advanceTimersByTime(500)
    expect(await seen()).toEqual(['dns_timeout', 'dns_timeout'])
    ask('c.example')
    expect(asked.map(({ hostname }) => hostname)).toEqual(['a.example', 'c.example'])
    fail('EAI_AGAIN')
    answer(one)
    expect(await seen()).toEqual([one.address])
  })

  test('a look-up that ends makes room, whatever its end', () => {
    const { ask, asked, fail } = rig()
    for (const name of ['a.example', 'b.example']) ask(name)
    vi.advanceTimersByTime(1_500)
    fail('EAI_AGAIN')
    ask('c.example')
    expect(asked.map(({ hostname }) => hostname)).toEqual(['b.example', 'c.example'])
  })
})

describe('look-ups for accounts', () => {
  test('silent names of one account leave threads to another, and are refused at once', async () => {
    const { askFor, asked, seen } = rig(4, 2)
    for (const name of ['a.example', 'b.example']) askFor('initech', name)
    vi.advanceTimersByTime(500)
    askFor('initech', 'c.example')
    expect(await seen()).toEqual(['dns_timeout'])
    askFor('acme', 'hooks.example')
    expect(asked.map(({ hostname }) => hostname)).toEqual(['a.example', 'b.example', 'hooks.example'])
  })

  test('a name that an account waits for is looked up for another all the same', () => {
    const { askFor, asked } = rig(4, 2)
    for (const name of ['a.example', 'b.example', 'hooks.example']) askFor('initech', name)
    askFor('acme', 'hooks.example')
    expect(asked.map(({ hostname }) => hostname)).toEqual(['a.example', 'b.example', 'hooks.example'])
  })

  test('one that waits for its account gets the place that a look-up of its account leaves, not that of another', () => {
    const { askFor, asked, answer } = rig(4, 2)
    askFor('acme', 'hooks.example')
    for (const name of ['a.example', 'b.example', 'c.example']) askFor('initech', name)
    answer(one)
    expect(asked.map(({ hostname }) => hostname)).toEqual(['a.example', 'b.example'])
    answer(one)
    expect(asked.map(({ hostname }) => hostname)).toEqual(['b.example', 'c.example'])
  })
})
