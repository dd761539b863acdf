import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { rendezvousScore } from './rendezvous-hash.ts'

type Weights = Readonly<Record<string, number>>

function winner(subject: string, weights: Weights): string {
  const scored = Object.entries(weights).map(([target, weight]) => ({ target, score: rendezvousScore(subject, target, weight) }))
  return scored.reduce((best, next) => (next.score > best.score ? next : best)).target
}

const subjects = Array.from({ length: 10_000 }, (_, at) => `identity:${at}`)
const share = (target: string, weights: Weights): number =>
  subjects.filter((subject) => winner(subject, weights) === target).length / subjects.length

describe('W6: the order of a subject', () => {
  it.each([
    { alpha: 90, beta: 10 },
    { alpha: 80, beta: 20 },
    { alpha: 50, beta: 50 },
    { alpha: 1, beta: 2, gamma: 7 },
  ] as Weights[])('gives each target its share of 10,000 subjects within a point: %o', (weights) => {
    const total = Object.values(weights).reduce((sum, weight) => sum + weight)
    for (const [target, weight] of Object.entries(weights))
      expect(Math.abs(share(target, weights) - weight / total)).toBeLessThan(0.01)
  })

  it('moves only the necessary subjects if weights change', () => {
    const [before, after] = [
      { alpha: 90, beta: 10 },
      { alpha: 80, beta: 20 },
    ]
    const moved = subjects.filter((subject) => winner(subject, before) !== winner(subject, after))
    expect(moved.every((subject) => winner(subject, before) === 'alpha')).toBe(true)
    expect(Math.abs(moved.length / subjects.length - 0.1)).toBeLessThan(0.01)
  })

  it('is this one for good: a change of the formula moves every client', () => {
    expect(rendezvousScore('identity:acme', 'alpha', 90)).toBe(rendezvousScore('identity:acme', 'alpha', 1) * 90)
    expect(
      subjects
        .slice(0, 24)
        .map((subject) => winner(subject, { alpha: 1, beta: 1 })[0])
        .join(''),
    ).toMatchInlineSnapshot(`"aaabababbbbbbbbaababbbaa"`)
    expect(rendezvousScore('address:192.0.2.7', 'beta', 1)).toMatchInlineSnapshot(`5.981403428809798`)
  })

  const weight = fc.integer({ min: 1, max: 1000 })
  const weighted = fc.dictionary(fc.stringMatching(/^[a-z0-9]{1,16}$/), weight, { minKeys: 2, maxKeys: 6 })

  it('is the same for the same share, whatever the unit of the weights', () => {
    fc.assert(
      fc.property(fc.string(), weighted, fc.integer({ min: 2, max: 1000 }), (subject, weights, factor) => {
        const scaled = Object.fromEntries(Object.entries(weights).map(([target, given]) => [target, given * factor]))
        expect(winner(subject, scaled)).toBe(winner(subject, weights))
      }),
    )
  })

  it('changes only to or from a target that is added, removed or has a new weight', () => {
    fc.assert(
      fc.property(fc.string(), weighted, fc.nat(), weight, (subject, weights, at, next) => {
        const targets = Object.keys(weights)
        const changed = targets[at % targets.length] as string
        const { [changed]: _, ...without } = weights
        const [before, less, other] = [weights, without, { ...weights, [changed]: next }].map((given) => winner(subject, given))
        expect(before === changed || before === less).toBe(true)
        if (other !== before) expect([other, before]).toContain(changed)
        if (next >= (weights[changed] as number) && before === changed) expect(other).toBe(changed)
      }),
    )
  })

  it('has a finite score above 0 for each', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), weight, (subject, target, given) => {
        const score = rendezvousScore(subject, target, given)
        expect(Number.isFinite(score) && score > 0).toBe(true)
      }),
    )
  })
})
