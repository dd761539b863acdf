import { beforeEach, expect, it } from 'vitest'
import { beatMs, Heartbeats, type ListeningWorker } from './heartbeats.ts'

class FakeWorker implements ListeningWorker<FakeWorker> {
  readonly accepted = new Set<FakeWorker>()
  isKilled = false

  accept(other: FakeWorker): void {
    this.accepted.add(other)
  }

  release(other: FakeWorker): void {
    this.accepted.delete(other)
  }

  kill(): void {
    this.isKilled = true
  }
}

const longestWorkMs = 10_000
let heartbeats: Heartbeats<FakeWorker>
let workers: readonly [FakeWorker, FakeWorker, FakeWorker]

beforeEach(() => {
  workers = [new FakeWorker(), new FakeWorker(), new FakeWorker()]
  heartbeats = new Heartbeats(workers.length)
  for (const worker of workers) heartbeats.add(worker)
})

/** Returns those that fell silent. */
function pass(seconds: number, ...heard: readonly FakeWorker[]): readonly FakeWorker[] {
  return Array.from({ length: (seconds * 1_000) / beatMs }, () => {
    const fallen = heartbeats.beat(longestWorkMs)
    for (const worker of heard) heartbeats.hear(worker)
    return fallen
  }).flat()
}

it('after five seconds of silence the others accept for a worker, until it is heard again', () => {
  const [first, second, third] = workers
  expect(pass(5, second, third)).toEqual([])
  expect(second.accepted).toEqual(new Set())
  expect(pass(1, second, third)).toEqual([first])
  expect([heartbeats.silent, heartbeats.beating]).toEqual([[first], [second, third]])
  for (const { accepted } of [second, third]) expect(accepted).toEqual(new Set([first]))
  heartbeats.hear(first)
  for (const { accepted } of [second, third]) expect(accepted).toEqual(new Set())
  expect(heartbeats.silent).toEqual([])
})

it('a worker that starts meanwhile accepts for it too, and nobody once it has ended', () => {
  const [first, second, third] = workers
  heartbeats.delete(third)
  pass(6, second)
  const fourth = new FakeWorker()
  heartbeats.add(fourth)
  pass(1, second, fourth)
  expect(fourth.accepted).toEqual(new Set([first]))
  heartbeats.delete(first)
  expect([second.accepted.size, fourth.accepted.size]).toEqual([0, 0])
})

it('for one that has ended the others accept at once, until its successor listens', () => {
  const [first, second, third] = workers
  pass(1, first, second, third)
  heartbeats.end(first)
  heartbeats.hear(first) // what it sent before
  for (const { accepted } of [second, third]) expect(accepted).toEqual(new Set([first]))
  pass(20, second, third)
  expect([heartbeats.silent, heartbeats.beating, first.isKilled]).toEqual([[], [second, third], false])
  const successor = new FakeWorker()
  heartbeats.add(successor, first)
  for (const { accepted } of [second, third]) expect(accepted).toEqual(new Set())
  pass(1, second, third, successor)
  expect(heartbeats.ended).toEqual([])
  expect(heartbeats.beating).toEqual([second, third, successor])
})

it('it is killed when no request can be under way in it any more', () => {
  const [first, second, third] = workers
  pass(15, second, third)
  expect(first.isKilled).toBe(false)
  pass(1, second, third)
  expect(workers.map(({ isKilled }) => isKilled)).toEqual([true, false, false])
})

it('one is killed at a time: the next once the place of the last is taken, or has stayed empty for a minute', () => {
  const [first, second, third] = workers
  const killed = () => workers.filter(({ isKilled }) => isKilled).length
  pass(20)
  expect(killed()).toBe(1)
  heartbeats.delete(first)
  pass(30)
  expect(killed()).toBe(1)
  const fourth = new FakeWorker()
  heartbeats.add(fourth)
  pass(1, fourth)
  expect([killed(), second.isKilled]).toEqual([2, true])
  heartbeats.delete(second)
  pass(58, fourth)
  expect(third.isKilled).toBe(false)
  pass(3, fourth)
  expect(third.isKilled).toBe(true)
})
