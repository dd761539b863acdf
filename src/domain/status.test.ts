import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { endStatuses, progress, roundDown, type Status, statuses } from './status.ts'

const words = fc.uniqueArray(fc.constantFrom<Status>(...statuses))
const status = fc.constantFrom<Status>(...statuses)
const step = (word: Status): number => (progress as readonly Status[]).indexOf(word)

it('the order of progress is that of the document', () => {
  expect(statuses).toEqual(['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success', 'overdue', 'refunded'])
})

it('an available status stays', () => {
  const property = fc.property(status, words, (word, others) => {
    expect(roundDown(word, new Set([...others, word]))).toBe(word)
  })
  fc.assert(property)
})

it('the result is never more progress than the truth, and no available status is between them', () => {
  const property = fc.property(fc.constantFrom<Status>(...progress), words, (truth, available) => {
    const rounded = roundDown(truth, new Set(available))
    const earlier = available.filter((word) => step(word) >= 0 && step(word) <= step(truth))
    expect(rounded).toBe(earlier.toSorted((a, b) => step(a) - step(b)).at(-1))
  })
  fc.assert(property)
})

it('an end status is never replaced by another', () => {
  const property = fc.property(fc.constantFrom<Status>(...endStatuses), words, (end, available) => {
    expect(roundDown(end, new Set(available))).toBe(available.includes(end) ? end : undefined)
  })
  fc.assert(property)
})
