import { expect, it } from 'vitest'
import {
  areSameSetting,
  inForce,
  type Override,
  type RoutingSettings,
  type SettingValue,
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
    override('shadow', { provider: 'b', sample: 0.5 }),
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

it('an override without a shadow replaces a shadow', () => {
  const shadowed = { ...file, routing: { ...file.routing, mirror: { provider: 'beta', sample: 1 } } }
  const none = { ...override('shadow', null), fileValue: settingOf(shadowed, 'shadow') }
  expect(inForce(shadowed, [none]).settings.routing.mirror).toBeUndefined()
})

it.each([
  override('state:alpha', 'off'),
  override('state:__proto__', 'off'),
  override('weights', { alpha: 0 }),
  override('shadow', { provider: 'beta', sample: 1 }),
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
  ['shadow', { provider: 'b' }],
  ['shadow', { provider: 'b', sample: 2 }],
  ['shadow', 'off'],
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
