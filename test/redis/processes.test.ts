/** docs/contract.md §7, docs/contract-operators.md §8: exactly the limit passes, in whichever turns of however many processes the requests come. */
import { type ChildProcess, fork } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { RedisServer } from '../support/redis.ts'
import type { Decision } from './replica-process.ts'

let redis: RedisServer
let processes: readonly ChildProcess[]

beforeAll(async () => {
  redis = await RedisServer.start()
  processes = Array.from({ length: 3 }, () => fork(join(import.meta.dirname, 'replica-process.ts'), [redis.url]))
  await Promise.all(processes.map((each) => once(each, 'message')))
}, 30_000)
afterAll(async () => {
  for (const each of processes ?? []) each.disconnect()
  await redis[Symbol.asyncDispose]()
})

async function decide(each: ChildProcess, decisions: readonly Decision[]): Promise<readonly boolean[]> {
  const reply = once(each, 'message')
  each.send(decisions)
  return (await reply)[0]
}

const decision = fc.record({
  bucket: fc.constantFrom('one', 'other'),
  isBudget: fc.boolean(),
})
/** For each process, what it decides in one turn of its event loop; the processes do it at the same time. */
const round = fc.tuple(...[1, 2, 3].map(() => fc.array(decision, { maxLength: 5 })))

it('R2, R14: of M requests exactly min(N, M) pass for each limit and budget, over three processes', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 12 }), fc.array(round, { minLength: 1, maxLength: 8 }), async (limit, rounds) => {
      const run = randomUUID()
      const asked = new Map<string, number>()
      const passed = new Map<string, number>()
      for (const turns of rounds) {
        await Promise.all(
          turns.map(async (turn, at) => {
            const decisions = turn.map(({ bucket, isBudget }) => ({ bucket: `${isBudget}:${run}${bucket}`, limit, isBudget }))
            const results = await decide(processes[at] as ChildProcess, decisions)
            for (const [index, { bucket }] of decisions.entries()) {
              asked.set(bucket, (asked.get(bucket) ?? 0) + 1)
              passed.set(bucket, (passed.get(bucket) ?? 0) + Number(results[index]))
            }
          }),
        )
      }
      const expected = [...asked].map(([bucket, count]) => [bucket, Math.min(limit, count)])
      expect(Object.fromEntries(passed)).toEqual(Object.fromEntries(expected))
    }),
    { numRuns: 100 },
  )
}, 60_000)

it('a limit that changes is the new one at once, also for a client that is past the old one', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(2), fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 6 }))),
      async (turns) => {
        const bucket = `admitted:${randomUUID()}`
        let counted = 0
        for (const [at, limit, requests] of turns) {
          const decisions = Array.from({ length: requests }, () => ({ bucket, limit, isBudget: false }))
          const results = await decide(processes[at] as ChildProcess, decisions)
          const admitted = Math.min(requests, Math.max(0, limit - counted))
          expect(results.filter(Boolean)).toHaveLength(admitted)
          counted += admitted
        }
      },
    ),
    { numRuns: 100 },
  )
}, 60_000)
