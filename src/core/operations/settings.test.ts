import { describe, expect, it } from 'vitest'
import type { ProviderState } from '../../domain/service.ts'
import {
  areSameSetting,
  type Followed,
  follow,
  inForce,
  type Override,
  type RoutingSettings,
  type SettingValue,
  type StoredOverride,
  settingOf,
  toSetting,
} from './settings.ts'

const file: RoutingSettings & { readonly other: string } = {
  other: 'kept',
  providers: [
    { name: 'alpha', tag: 'a', state: 'active' },
    { name: 'beta', tag: 'b', state: 'draining' },
  ],
  routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 9, beta: 1 } },
}
const made = { actor: 'alice', since: 1 }
const override = (key: Override['key'], value: unknown): Override => {
  const setting = toSetting(key, value)
  if (!setting) throw new Error(`${key} has no such value`)
  return { ...setting, ...made, fileValue: settingOf(file, key) }
}

it('the settings in effect have each override in its place by the tag of the provider, and otherwise the values of the file', () => {
  const values = [
    override('state:b', 'off'),
    override('weights', { a: 0, b: 5 }),
    override('mirror', { provider: 'b', sample: 0.5 }),
  ]
  expect(inForce(file, values).settings).toEqual({
    other: 'kept',
    providers: [
      { name: 'alpha', tag: 'a', state: 'active' },
      { name: 'beta', tag: 'b', state: 'off' },
    ],
    routing: {
      strategy: 'weighted',
      providers: ['alpha', 'beta'],
      weights: { alpha: 0, beta: 5 },
      mirror: { provider: 'beta', sample: 0.5 },
    },
  })
  expect(inForce(file, []).settings).toBe(file)
})

it('weights hold for the providers that they name, and others have those of the file', () => {
  const weights = override('weights', { a: 0, gone: 7 })
  expect(inForce(file, [weights]).settings.routing.weights).toEqual({ alpha: 0, beta: 1 })
  expect(inForce(file, [weights]).applied).toEqual([weights])
})

it('an override without a mirror replaces the mirror of the file', () => {
  const mirrored = { ...file, routing: { ...file.routing, mirror: { provider: 'beta', sample: 1 } } }
  const none = { ...override('mirror', null), fileValue: settingOf(mirrored, 'mirror') }
  expect(inForce(mirrored, [none]).settings.routing.mirror).toBeUndefined()
})

it.each([
  override('state:alpha', 'off'),
  override('state:__proto__', 'off'),
  override('weights', { alpha: 0 }),
  override('mirror', { provider: 'beta', sample: 1 }),
])('what means nothing here changes nothing: $key $value', (strange) => {
  expect(inForce(file, [strange]).settings).toBe(file)
  expect(inForce(file, [strange]).applied).toEqual([])
})

it.each([
  ['state:a', 'asleep'],
  ['state:a', null],
  ['paused:a', 'off'],
  ['weights', null],
  ['weights', [1]],
  ['weights', { a: 1.5 }],
  ['weights', { a: 1_001 }],
  ['weights', { a: '1' }],
  ['mirror', { provider: 'b' }],
  ['mirror', { provider: 'b', sample: 2 }],
  ['mirror', 'off'],
])('%s has no value %o', (key, value) => {
  expect(toSetting(key, value)).toBeUndefined()
})

it('weights change nothing where the strategy does not go by them', () => {
  const weights = override('weights', { a: 0, b: 5 })
  const priority = { ...file, routing: { ...file.routing, strategy: 'priority' } }
  expect(inForce(priority, [weights]).settings).toBe(priority)
  expect(inForce(priority, [weights]).asleep).toEqual([weights])
})

it('an override that gives is valid while the file has its old value, in any order of keys; one that takes away always is', () => {
  const weights = { ...override('weights', { a: 1, b: 5 }), fileValue: { b: 1, a: 9 } }
  const drained = { ...override('state:a', 'draining'), fileValue: 'off' as const }
  const stale = { ...override('state:b', 'active'), fileValue: 'off' as const }
  expect(inForce(file, [weights, drained, stale]).applied).toEqual([weights, drained])
  expect(inForce(file, [weights, drained, stale]).asleep).toEqual([])
})

it.each<[SettingValue, SettingValue, boolean]>([
  [null, null, true],
  ['active', 'active', true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1 }, null, false],
  [JSON.parse('{"__proto__": 1}'), {}, false],
])('%o and %o are the same: %s', (one, other, areSame) => {
  expect(areSameSetting(one, other)).toBe(areSame)
})

interface FileFacts {
  readonly alpha?: ProviderState
  readonly weights?: Readonly<Record<string, number>>
  readonly names?: readonly string[]
}

function fileOf({ alpha = 'active', weights, names = ['alpha', 'beta'] }: FileFacts = {}): RoutingSettings {
  const providers = names.map((name) => ({ name, tag: name, state: name === 'alpha' ? alpha : ('active' as const) }))
  return { providers, routing: { strategy: 'weighted', providers: names, weights } }
}

const opened: Override = { key: 'state:alpha', value: 'active', fileValue: 'draining', actor: 'alice', since: 5 }
const drained: Override = { key: 'state:alpha', value: 'draining', fileValue: 'active', actor: 'alice', since: 5 }
const before = fileOf({ alpha: 'draining' })
const open = (override: Override): StoredOverride => ({ ...override, isEnded: false })
const ended = (override: Override): StoredOverride => ({ ...override, isEnded: true })

/** The state of a replica after each step: a new file, or new overrides in the ledger. */
class Replica {
  state: Followed
  private stored: readonly StoredOverride[]

  constructor(file: RoutingSettings, stored: readonly StoredOverride[] = []) {
    this.stored = stored
    this.state = follow(file, stored)
  }

  reads(file: RoutingSettings): this {
    this.state = follow(file, this.stored, this.state)
    return this
  }

  finds(...stored: readonly StoredOverride[]): this {
    this.stored = stored
    return this.reads(this.state.file)
  }

  get result() {
    const { applied, asleep, ended, forgotten } = this.state
    return { applied: applied.map(({ value }) => value), asleep: asleep.length, ended: ended.length, forgotten: forgotten.length }
  }
}

const nothing = { applied: [], asleep: 0, ended: 0, forgotten: 0 }
const isActive = { ...nothing, applied: ['active'] }
const isDraining = { ...nothing, applied: ['draining'] }
const endsIt = { ...nothing, ended: 1 }
const sleeps = { ...nothing, asleep: 1 }

describe('an override that gives new swaps', () => {
  it('applies from the start of a replica, and a later one, until it is removed', () => {
    const replica = new Replica(before, [open(opened)])
    expect(replica.result).toEqual(isActive)
    expect(replica.finds().result).toEqual(nothing)
    expect(replica.finds(open({ ...opened, since: 9 })).result).toEqual(isActive)
  })

  it('O4: ends when its file changes, and again while the ledger does not have it as ended', () => {
    const replica = new Replica(before, [open(opened)]).reads(fileOf({ alpha: 'off' }))
    expect(replica.result).toEqual(endsIt)
    expect(replica.finds(open(opened)).result).toEqual(endsIt)
    expect(replica.finds(ended(opened)).result).toEqual(nothing)
  })

  it('O4: ends at a start if the file was changed while nothing ran', () => {
    expect(new Replica(fileOf({ alpha: 'off' }), [open(opened)]).result).toEqual(endsIt)
    expect(new Replica(fileOf(), [open(opened)]).result).toEqual(endsIt)
  })

  it('O4: stays when another part of the file changes', () => {
    const replica = new Replica(before, [open(opened)]).reads(fileOf({ alpha: 'draining', weights: { alpha: 1, beta: 2 } }))
    expect(replica.result).toEqual(isActive)
  })

  it('O5: is not brought back by a file that flips back', () => {
    const running = new Replica(before, [open(opened)]).reads(fileOf({ alpha: 'off' }))
    expect(running.reads(before).result).toEqual(endsIt)
    expect(running.finds(ended(opened)).result).toEqual(nothing)
  })

  it('O5: nor at a start', () => {
    expect(new Replica(before, [ended(opened)]).result).toEqual({ ...nothing, forgotten: 1 })
    expect(new Replica(fileOf({ alpha: 'off' }), [ended(opened)]).result).toEqual(nothing)
  })

  it('may replace one that has ended', () => {
    const replica = new Replica(before, [open(opened)]).reads(fileOf({ alpha: 'off' })).finds(ended(opened))
    expect(replica.finds(open({ ...opened, fileValue: 'off', since: 9 })).result).toEqual(isActive)
  })

  it('O6: ends when the file no longer has its provider', () => {
    const one = fileOf({ names: ['beta'] })
    expect(new Replica(before, [open(opened)]).reads(one).result).toEqual(endsIt)
    expect(new Replica(one, [open(opened)]).result).toEqual(endsIt)
    const given = fileOf({ weights: { alpha: 1, beta: 9 } })
    const weights: Override = { ...opened, key: 'weights', value: { alpha: 5, beta: 5 }, fileValue: { alpha: 1, beta: 9 } }
    expect(new Replica(given, [open(weights)]).result.applied).toHaveLength(1)
    expect(new Replica(given, [open(weights)]).reads(fileOf({ names: ['beta'], weights: { beta: 9 } })).result).toEqual(endsIt)
    const mirror: Override = { ...opened, key: 'mirror', value: { provider: 'alpha', sample: 1 }, fileValue: null }
    expect(new Replica(fileOf(), [open(mirror)]).result.applied).toHaveLength(1)
    expect(new Replica(fileOf(), [open(mirror)]).reads(one).result).toEqual(endsIt)
  })

  it('is not misled by names', () => {
    const strange: Override = { ...opened, key: 'state:__proto__', fileValue: 'active' }
    expect(new Replica(fileOf({ names: ['__proto__', 'alpha'] }), [open(strange)]).result).toEqual(isActive)
    expect(new Replica(fileOf(), [open(strange)]).result).toEqual(endsIt)
    const same = { weights: { beta: 2, alpha: 1 } }
    const weights: Override = { ...opened, key: 'weights', value: { alpha: 1, beta: 1 }, fileValue: { alpha: 1, beta: 2 } }
    expect(new Replica(fileOf(same), [open(weights)]).result.applied).toHaveLength(1)
  })
})

describe('an override that takes new swaps away', () => {
  const weights = { ...drained, key: 'weights', value: { alpha: 0, beta: 9 }, fileValue: { alpha: 9, beta: 0 } } as const
  const none: StoredOverride[] = []

  it.each([
    ['a state', drained, isDraining],
    ['weights', weights, { ...nothing, applied: [weights.value] }],
  ])('O4: %s stays whatever the file says, until an operator resets it', (_, override, isApplied) => {
    const replica = new Replica(fileOf({ weights: { alpha: 9, beta: 0 } }), [open(override)])
    const names = ['alpha', 'beta', 'gamma']
    for (const file of [
      fileOf({ alpha: 'off', weights: { alpha: 1, beta: 1 } }),
      fileOf({ weights: { alpha: 9, beta: 0 } }),
      fileOf({ names, weights: { alpha: 9, beta: 0, gamma: 0 } }),
    ]) {
      expect(replica.reads(file).result).toEqual(isApplied)
      expect(new Replica(file, [open(override)]).result).toEqual(isApplied)
    }
    expect(replica.finds(...none).result).toEqual(nothing)
  })

  it('O6: sleeps while the file lacks its providers, and follows a tag through a rename', () => {
    const replica = new Replica(fileOf(), [open(drained)])
    expect(replica.reads(fileOf({ names: ['beta'] })).result).toEqual(sleeps)
    const { routing } = fileOf()
    const renamed: RoutingSettings = { routing, providers: [{ name: 'eu', tag: 'alpha', state: 'active' }] }
    expect(replica.reads(renamed).result).toEqual(isDraining)
    const other: RoutingSettings = { routing, providers: [{ name: 'alpha', tag: 'a2', state: 'active' }] }
    expect(replica.reads(other).result).toEqual(sleeps)
    expect(new Replica(fileOf({ names: ['gamma'] }), [open(weights)]).result).toEqual(sleeps)
  })

  it('O7: applies in every replica, whatever its file', () => {
    expect(new Replica(fileOf({ alpha: 'off' })).finds(open(drained)).result).toEqual(isDraining)
    const gamma: Override = { ...drained, key: 'state:gamma' }
    const old = new Replica(fileOf()).finds(open(gamma))
    expect(old.result).toEqual(sleeps)
    expect(old.reads(fileOf({ names: ['alpha', 'beta', 'gamma'] })).result).toEqual(isDraining)
  })
})

describe('a rolling deployment', () => {
  const newFile = fileOf({ alpha: 'off' })

  it('O7: a replica with the old file keeps an override that a newer file has ended', () => {
    const old = new Replica(before, [open(opened)])
    expect(new Replica(newFile, [open(opened)]).result).toEqual(endsIt)
    expect(old.finds(ended(opened)).result).toEqual(isActive)
    expect(old.finds(ended(opened)).result).toEqual(isActive)
    expect(old.reads(newFile).result).toEqual(nothing)
  })

  it('O7: and drops it when an operator removes it, or a replica is started with the old file again', () => {
    const old = new Replica(before, [open(opened)]).finds(ended(opened))
    expect(new Replica(before, [ended(opened)]).result).toEqual({ ...nothing, forgotten: 1 })
    expect(old.finds().result).toEqual(nothing)
  })

  const newer: Override = { key: 'state:alpha', value: 'active', fileValue: 'off', actor: 'bob', since: 7 }

  it('O7: an override for a newer file is applied by replicas with the old one', () => {
    const old = new Replica(fileOf()).finds(open(newer))
    expect(old.result).toEqual(isActive)
    expect(old.reads(newFile).result).toEqual(isActive)
  })

  it('O7: an override for the old file is applied by replicas with a newer one, until the old one is gone', () => {
    const [old, next] = [new Replica(before), new Replica(newFile)]
    expect(next.finds(open(opened)).result).toEqual(isActive)
    expect(old.finds(open(opened)).reads(newFile).result).toEqual(endsIt)
    expect(next.finds(ended(opened)).result).toEqual(nothing)
  })

  it('O7: an override of a provider that only the newer file has is not ended by any replica', () => {
    const gamma: Override = { ...newer, key: 'state:gamma', fileValue: 'active' }
    const three = fileOf({ names: ['alpha', 'beta', 'gamma'] })
    const old = new Replica(fileOf()).finds(open(gamma))
    expect(old.result).toEqual(nothing)
    expect(old.reads(three).result).toEqual(isActive)
  })
})
