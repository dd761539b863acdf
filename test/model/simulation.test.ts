// Takes long: hundreds of random traces.
/** The model in `docs/model` holds, and it notices each known defect. `npm run model` does the same at length. */
import { beforeAll, describe, expect, it } from 'vitest'
import found from './found.json' with { type: 'json' }
import { configurations, defects, openModel } from './simulator.ts'

let simulate: Awaited<ReturnType<typeof openModel>>
beforeAll(async () => {
  simulate = await openModel()
}, 60_000)

describe('the model of a create', () => {
  it.each(configurations)(
    'L61: random traces with the operator of %s keep every invariant, and reach what they are about',
    (configuration) => {
      const seed = BigInt(Date.now() % 2 ** 31)
      const isFixed = configuration === 'fixed'
      const outcome = simulate({ configuration, seed, samples: isFixed ? 500 : 200 })
      console.info(`model: ${configuration}, seed ${seed}`, outcome.witnessed)
      expect([outcome.violated, outcome.seed]).toEqual([[], outcome.seed])
      // With an operator's acts between them, so few traces may miss the rarest of the others.
      if (isFixed) expect(Object.values(outcome.witnessed).every((count) => count > 0)).toBe(true)
    },
    120_000,
  )

  it('L62: it has a trace for each defect', () => expect(Object.keys(found).toSorted()).toEqual(defects.toSorted()))

  it.each(Object.entries(found))('L62: it notices %s', (defect, seed) => {
    const { violated } = simulate({ defect, seed: BigInt(seed), samples: 1 })
    expect(violated).not.toEqual([])
  })
})
