/** `swapgate providers drain | activate | off | weights | mirror | reset`: what is changed in place of the file, and what is refused (docs/contract-operators.md §12). */
import { writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { actor, SwitchingPlace } from './switching-place.ts'

let place: SwitchingPlace
beforeEach(() => {
  place = new SwitchingPlace()
})
afterEach(() => place[Symbol.dispose]())

const weighted = { strategy: 'weighted', weights: { alpha: 90, beta: 10 } }
const providers: SwitchingPlace['providers'] = (...args) => place.providers(...args)
describe('drain, activate and off', () => {
  it('O2: change the state in the ledger, each with a record of its actor', async () => {
    const drained = await place.facts('providers', 'drain', 'alpha')
    const since = expect.stringMatching(/^20.*Z$/)
    expect(drained).toMatchObject({
      name: 'alpha',
      state: 'draining',
      since,
      override: { value: 'draining', actor, since },
      openTransactions: 0,
    })
    expect(await place.states()).toEqual({ alpha: 'draining', beta: 'active', gamma: 'active' })
    expect(await place.facts('providers', 'off', 'alpha')).toMatchObject({ state: 'off' })
    expect(await place.facts('providers', 'activate', 'alpha')).toMatchObject({ state: 'active' })
    expect(await place.audited()).toEqual([
      [actor, 'provider.state', 'alpha', 'off', 'active'],
      [actor, 'provider.state', 'alpha', 'draining', 'off'],
      [actor, 'provider.state', 'alpha', 'active', 'draining'],
    ])
  })

  it('print in lines for people what is in force', async () => {
    expect(await providers('drain', 'alpha')).toEqual({
      exitCode: 0,
      out: [
        'alpha is draining, but active in the configuration file.',
        '0 open there.',
        'Every running gateway applies this within 5 s.',
      ],
      err: [],
    })
  })

  it.each(['gamma', '__proto__', 'constructor', ''])('O10: end with 1 for what is no provider: %o', async (name) => {
    const wrong = name === 'gamma' ? 'delta' : name
    const { exitCode, out, err } = await providers('drain', wrong)
    expect([exitCode, out, err]).toEqual([1, [], [`swapgate: there is no provider ${wrong}, but alpha, beta, gamma`]])
    expect(await place.audited()).toEqual([])
  })

  it('O10: are refused without --force where no provider is left for new swaps', async () => {
    await providers('drain', 'alpha')
    for (const command of ['drain', 'off']) {
      const { exitCode, out, err } = await providers(command, 'beta', '--json')
      expect([exitCode, err]).toEqual([1, ['swapgate: this leaves no provider for new swaps (--force does it anyway)']])
      expect(JSON.parse(out.join('\n'))).toEqual({ outcome: 'needsForce', message: 'this leaves no provider for new swaps' })
    }
    expect(await place.states()).toMatchObject({ beta: 'active' })
    expect((await providers('off', 'beta', '--force')).exitCode).toBe(0)
    expect(await place.states()).toEqual({ alpha: 'draining', beta: 'off', gamma: 'active' })
    expect((await providers('activate', 'gamma')).exitCode).toBe(0)
    expect((await providers('activate', 'beta')).exitCode).toBe(0)
  })

  it('O10: a provider that takes nothing new by its weight is none for new swaps', async () => {
    place.configure({ routing: { ...weighted, weights: { alpha: 1, beta: 0 } } })
    expect((await providers('drain', 'alpha')).err[0]).toContain('no provider for new swaps')
    expect((await providers('drain', 'beta')).exitCode).toBe(0)
  })

  it('O10: off is refused without --force where something is open, which it counts', async () => {
    await place.open()
    const { exitCode, err } = await providers('off', 'alpha')
    expect([exitCode, err[0]]).toEqual([1, expect.stringContaining('alpha has 2 open, and is not called any more when it is off')])
    expect(await place.facts('providers', 'drain', 'alpha')).toMatchObject({ openTransactions: 1, pendingCreates: 1 })
    expect((await providers('off', 'alpha')).exitCode).toBe(1)
    expect((await providers('off', 'alpha', '--force')).exitCode).toBe(0)
    expect((await providers('off', 'alpha')).exitCode).toBe(0)
  })

  it('O3: two people at once do not leave no provider', async () => {
    const results = await Promise.all([providers('drain', 'alpha'), providers('drain', 'beta')])
    expect(results.map(({ exitCode }) => exitCode).toSorted()).toEqual([0, 1])
    expect(await place.audited()).toHaveLength(1)
  })
})

describe('weights', () => {
  beforeEach(() => place.configure({ routing: weighted }))

  it('O2: are changed together', async () => {
    const changed = await place.facts('providers', 'weights', 'alpha=0', 'beta=1000')
    expect(changed).toMatchObject({
      inForce: { weights: { alpha: 0, beta: 1000 }, shadow: null },
      file: { weights: { alpha: 90, beta: 10 } },
      overrides: [{ key: 'weights', actor }],
    })
    expect(await place.audited()).toEqual([
      [actor, 'routing.weights', 'routing', { alpha: 90, beta: 10 }, { alpha: 0, beta: 1000 }],
    ])
    expect((await providers('weights', 'alpha=1', 'beta=2')).out).toContain('weights: alpha=1 beta=2')
  })

  it.each([
    [['alpha=1'], 'beta is missing'],
    [['alpha=1', 'beta=1', 'gamma=1'], 'gamma is not in routing.providers'],
    [['alpha=1', 'beta=1001'], 'whole numbers from 0 to 1000'],
    [['alpha=1', 'beta=-1'], 'whole numbers from 0 to 1000'],
    [['alpha=1', 'beta=0.5'], 'whole numbers from 0 to 1000'],
    [['alpha=0', 'beta=0'], 'must not all be 0'],
    [['alpha=1', 'beta=1', '__proto__=1'], '__proto__ is not in routing.providers'],
  ])('O10: %o are refused with 1, and --force does not help', async (words, why) => {
    for (const force of [[], ['--force']]) {
      const { exitCode, err } = await providers('weights', ...words, ...force)
      expect([exitCode, err[0]]).toEqual([1, expect.stringContaining(why)])
    }
    expect(await place.audited()).toEqual([])
  })

  it.each([[['alpha']], [['alpha=']], [['alpha=x', 'beta=1']], [['=1']], [['alpha=1', 'alpha=2']], [['alpha=01', 'beta=1']], [[]]])(
    'O10: %o is wrong usage',
    async (words) => {
      expect((await providers('weights', ...words)).exitCode).toBe(2)
    },
  )

  it('O10: that leave no provider for new swaps need --force', async () => {
    await providers('drain', 'alpha')
    expect((await providers('weights', 'alpha=5', 'beta=0')).err[0]).toContain('no provider for new swaps')
    expect((await providers('weights', 'alpha=5', 'beta=0', '--force')).exitCode).toBe(0)
  })

  it('O10: are refused where the strategy does not go by them', async () => {
    place.configure()
    const { exitCode, err } = await providers('weights', 'alpha=1', 'beta=1')
    expect([exitCode, err[0]]).toEqual([1, 'swapgate: weights are of no effect: routing.strategy is priority'])
  })
})

describe('mirror', () => {
  it('O2: is set for any provider, and ended', async () => {
    expect(await place.facts('providers', 'shadow', 'gamma=0.1')).toMatchObject({
      inForce: { mirror: { provider: 'gamma', sample: 0.1 }, shadow: { provider: 'gamma', sample: 0.1 } },
    })
    expect((await providers('mirror', 'off')).out).toContain('mirror: off')
    expect(await place.audited()).toEqual([
      [actor, 'routing.mirror', 'routing', { provider: 'gamma', sample: 0.1 }, null],
      [actor, 'routing.mirror', 'routing', null, { provider: 'gamma', sample: 0.1 }],
    ])
  })

  it('O10: is refused for what is no provider or no share, and wrong usage is 2', async () => {
    expect((await providers('shadow', 'delta=0.1')).err[0]).toContain('there is no provider delta, but alpha, beta, gamma')
    expect((await providers('shadow', 'beta=1.1')).err[0]).toContain('from 0 to 1')
    for (const word of ['beta', 'beta=', 'on']) expect((await providers('shadow', word)).exitCode).toBe(2)
    expect(await place.audited()).toEqual([])
  })
})

describe('reset', () => {
  it('offers the suspended assets of a provider again, or those of all, with a record each; `status` names them', async () => {
    await place.suspend('a1')
    await place.suspend('beta')
    const suspended = async () => (await providers('status')).out.filter((line) => line.startsWith('Suspended'))
    const lineOf = (name: string) =>
      expect.stringMatching(
        `^Suspended at ${name}: BTC \\(network BTC\\), since 20\\S+Z, until 20\\S+Z: three mismatches in a row of amount\\.$`,
      )
    expect(await suspended()).toEqual([lineOf('alpha'), lineOf('beta')])
    for (const name of ['weights', 'gamma']) expect((await providers('reset', name)).exitCode).toBe(0)
    expect(await place.audited()).toEqual([])
    expect((await providers('reset', 'alpha')).exitCode).toBe(0)
    expect(await suspended()).toEqual([lineOf('beta')])
    expect((await providers('reset')).exitCode).toBe(0)
    expect(await suspended()).toEqual([])
    const before = [{ kind: 'amount', asset: 'BTC' }]
    expect(await place.audited()).toEqual([
      [actor, 'provider.resume', 'beta', before, null],
      [actor, 'provider.resume', 'alpha', before, null],
    ])
  })

  it('O2: takes back what is of a name, or everything', async () => {
    place.configure({ routing: weighted })
    await providers('drain', 'alpha')
    await providers('weights', 'alpha=1', 'beta=1')
    await providers('mirror', 'beta=1')
    expect(await place.facts('providers', 'reset', 'weights')).toMatchObject({
      inForce: { states: { alpha: 'draining' }, weights: { alpha: 90, beta: 10 }, shadow: { provider: 'beta' } },
    })
    expect(await place.facts('providers', 'reset')).toMatchObject({ inForce: { states: { alpha: 'active' }, shadow: null } })
    expect((await place.audited()).slice(0, 3)).toEqual([
      [actor, 'override.reset', 'state:alpha', 'draining', 'active'],
      [actor, 'override.reset', 'mirror', { provider: 'beta', sample: 1 }, null],
      [actor, 'override.reset', 'weights', { alpha: 1, beta: 1 }, { alpha: 90, beta: 10 }],
    ])
    expect((await providers('reset')).exitCode).toBe(0)
    expect(await place.audited()).toHaveLength(6)
  })

  it('O2: an override equal to the file makes no record: nothing changes', async () => {
    await providers('activate', 'alpha')
    await providers('drain', 'beta')
    const before = await place.audited()
    expect((await providers('reset', 'alpha')).exitCode).toBe(0)
    expect(await place.audited()).toEqual(before)
    expect((await providers('reset')).exitCode).toBe(0)
    expect((await place.audited())[0]).toEqual([actor, 'override.reset', 'state:beta', 'draining', 'active'])
    expect(await place.audited()).toHaveLength(before.length + 1)
  })

  it('O10: needs --force where the file leaves no provider for new swaps, or something open unread', async () => {
    place.configure({ alpha: { state: 'off' } })
    await providers('activate', 'alpha')
    await place.open()
    expect((await providers('reset', 'alpha')).err[0]).toContain('alpha has 2 open')
    await providers('drain', 'beta')
    expect((await providers('reset', 'alpha')).err[0]).toContain('no provider for new swaps')
    expect((await providers('reset', 'alpha', '--force')).exitCode).toBe(0)
    expect((await providers('reset', 'delta')).exitCode).toBe(1)
  })

  it('O6: what is of a provider that the file no longer has can be taken back', async () => {
    await providers('drain', 'beta')
    writeFileSync(
      place.file,
      JSON.stringify({
        ledger: { url: place.ledgerUrl },
        providers: { alpha: { form: 'A', url: 'http://127.0.0.1:1' } },
        routing: { providers: ['alpha'] },
      }),
    )
    expect((await providers('reset', 'beta')).exitCode).toBe(0)
    expect((await providers('reset', 'beta')).exitCode).toBe(1)
  })
})

describe('a change of the file', () => {
  const warnings = async (): Promise<string> => (await place.swapgate('check')).out.join('\n')

  it('O4: does not end an override that takes new swaps away, and `check` reports it', async () => {
    place.configure({ routing: weighted })
    await providers('weights', 'alpha=0', 'beta=100')
    place.configure({ routing: { ...weighted, providers: ['alpha', 'beta', 'gamma'], weights: { alpha: 90, beta: 10, gamma: 5 } } })
    expect(await warnings()).toMatch(
      /warning: weights is \{"alpha":0,"beta":100\}, set by cli:\S+ at 20\S+; the file says \{"alpha":90,"beta":10,"gamma":5\}/,
    )
    expect(await place.facts('providers', 'reset', 'mirror')).toMatchObject({
      inForce: { weights: { alpha: 0, beta: 100, gamma: 5 } },
      overrides: [{ key: 'weights', value: { alpha: 0, beta: 100 }, isAsleep: false }],
    })
  })

  it('O4: ends one that gives, and `check` says so before', async () => {
    place.configure({ alpha: { state: 'draining' } })
    await providers('activate', 'alpha')
    expect(await warnings()).toMatch(/warning: state:alpha is "active", set by \S+ at 20\S+; the file says "draining"/)
    place.configure({ alpha: { state: 'off' } })
    expect(await warnings()).toMatch(/state:alpha is "active", set by \S+ at 20\S+; this file ends it: it says "off"/)
    expect(await place.states()).toMatchObject({ alpha: 'off' })
  })

  it('O6: follows the tag of a provider, and what the file lacks sleeps and can be taken back', async () => {
    await providers('drain', 'alpha')
    place.configure({ alpha: { tag: 'a2' } })
    expect(await place.states()).toMatchObject({ alpha: 'active' })
    expect(await warnings()).toMatch(/warning: state:a1 is "draining", set by \S+ at 20\S+; it has no effect with this file/)
    expect((await providers('status')).out.at(-1)).toMatch(/^Override: state:a1 is draining .*It has no effect with this file/)
    place.configure({ alpha: { tag: 'a1' } })
    expect(await place.states()).toMatchObject({ alpha: 'draining' })
    place.configure({ alpha: { tag: 'a2' } })
    expect((await providers('reset', 'a1')).exitCode).toBe(0)
    expect(await warnings()).not.toContain('state:a1')
  })
})

describe('audit', () => {
  it('O1: prints actor and change, for people and as JSON, the newest first', async () => {
    await place.swapgate('keys', 'create', '--name', 'acme x')
    await providers('drain', 'alpha')
    const { exitCode, out } = await place.swapgate('audit')
    expect([exitCode, out.length]).toEqual([0, 4])
    expect(out[0]).toMatch(/^time +who +what +of +change$/)
    expect(out[1]).toMatch(/^20\S+Z {2}cli:\S+ {2}provider\.state +alpha +active -> draining$/)
    const records = await place.facts<readonly object[]>('audit')
    expect(Object.keys(records[0] ?? {}).toSorted()).toEqual(['action', 'actor', 'after', 'at', 'before', 'id', 'subject'])
    expect(records).toMatchObject([
      { actor, action: 'provider.state', subject: 'alpha', before: 'active', after: 'draining' },
      { actor, action: 'key.create', before: null, after: { account: 'acme x' } },
      { actor, action: 'account.create', subject: 'acme x' },
    ])
    expect(JSON.stringify(records)).not.toContain('sg_live_')
  })

  it('O1: since a while ago, or since a date', async () => {
    await providers('drain', 'alpha')
    for (const since of ['1h', '7d', '2026-01-01', '2026-01-01T00:00:00Z'])
      expect(await place.facts('audit', '--since', since)).toHaveLength(1)
    expect(await place.facts('audit', '--since', '2999-01-01')).toEqual([])
    expect((await place.swapgate('audit', '--since', '2999-01-01')).out).toEqual(['There are no manual changes.'])
    expect((await place.swapgate('audit', '--since', 'yesterday')).exitCode).toBe(2)
  })
})
