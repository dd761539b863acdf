import { expect, it } from 'vitest'
import type { Override } from './overrides.ts'
import { areSameSetting, heldBy, type RoutingSettings, settingOf, withOverrides } from './settings.ts'

const file: RoutingSettings & { readonly other: string } = {
  other: 'kept',
  providers: [
    { name: 'alpha', tag: 'a', state: 'active' },
    { name: 'beta', tag: 'b', state: 'draining' },
  ],
  routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 9, beta: 1 } },
}
const made = { actor: 'alice', since: 1 }
const override = (key: Override['key'], value: unknown): Override => ({ ...made, key, value, fileValue: settingOf(file, key) })

it('the settings in effect have each override in its place, and otherwise the values of the file', () => {
  const shadow = { provider: 'beta', sample: 0.5 }
  const values = [override('state:beta', 'off'), override('weights', { alpha: 0, beta: 5 }), override('shadow', shadow)]
  expect(withOverrides(file, values)).toEqual({
    other: 'kept',
    providers: [
      { name: 'alpha', tag: 'a', state: 'active' },
      { name: 'beta', tag: 'b', state: 'off' },
    ],
    routing: { strategy: 'weighted', providers: ['alpha', 'beta'], weights: { alpha: 0, beta: 5 }, shadow },
  })
  expect(withOverrides(file, [])).toBe(file)
})

it('an override without a shadow replaces a shadow', () => {
  const shadowed = { ...file, routing: { ...file.routing, shadow: { provider: 'beta', sample: 1 } } }
  expect(withOverrides(shadowed, [override('shadow', null)]).routing.shadow).toBeUndefined()
})

it.each([
  override('state:gamma', 'off'),
  override('state:__proto__', 'off'),
  override('state:alpha', 'asleep'),
  override('weights', { alpha: 1 }),
  override('weights', { alpha: 1, beta: 1, gamma: 1 }),
  override('weights', null),
  override('shadow', { provider: 'gamma', sample: 1 }),
])('what means nothing here changes nothing: $key $value', (strange) => {
  expect(withOverrides(file, [strange])).toBe(file)
  expect(heldBy(file, [strange])).toEqual([])
})

it('an override is valid while the file has its old value, in any order of keys', () => {
  const weights = { ...override('weights', { alpha: 0, beta: 5 }), fileValue: { beta: 1, alpha: 9 } }
  const drained = override('state:alpha', 'draining')
  const stale = { ...override('state:beta', 'off'), fileValue: 'active' }
  expect(heldBy(file, [weights, drained, stale])).toEqual([weights, drained])
})

it.each([
  [null, null, true],
  [null, undefined, false],
  ['active', 'active', true],
  [{ a: 1, b: 2 }, { b: 2, a: 1 }, true],
  [{ a: 1 }, { a: 1, b: 2 }, false],
  [{ a: 1 }, null, false],
  [JSON.parse('{"__proto__": 1}'), {}, false],
])('%o and %o are the same: %s', (one, other, areSame) => {
  expect(areSameSetting(one, other)).toBe(areSame)
})
