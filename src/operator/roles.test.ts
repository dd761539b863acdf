import type { Request, Response } from 'express'
import { expect, it, vi } from 'vitest'
import type { Config } from '../config/index.ts'
import { Fault } from '../domain/fault.ts'
import { requireRole } from './roles.ts'
import type { Route } from './route.ts'

const route = { method: 'post', path: '/api/settlements' } as Route
const file = (): Config => ({}) as Config

async function outcomeOf(guard: ReturnType<ReturnType<typeof requireRole>>, actor = 'bob'): Promise<string> {
  const next = vi.fn()
  try {
    await guard({ body: {} } as Request, { locals: { actor, roles: ['read'] } } as unknown as Response, next)
  } catch (reason) {
    return Fault.from(reason).kind
  }
  return next.mock.calls.length === 1 ? 'passed' : 'nothing'
}

it('a token that repeats what is refused is recorded once a minute, and so is each other one', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const append = vi.fn(async () => {})
  const guard = requireRole({ append }, file)(route)
  const many = await Promise.all(Array.from({ length: 1_000 }, () => outcomeOf(guard)))
  expect(new Set(many)).toEqual(new Set(['forbidden']))
  expect(append).toHaveBeenCalledTimes(1)
  await outcomeOf(guard, 'carol')
  expect(append).toHaveBeenCalledTimes(2)
  vi.advanceTimersByTime(60_000)
  await outcomeOf(guard)
  expect(append).toHaveBeenCalledTimes(3)
  vi.useRealTimers()
})

it('what is refused stays refused while the ledger takes no record of it, and is recorded when it does', async () => {
  const append = vi.fn(async () => {})
  append.mockRejectedValueOnce(new Error('away'))
  const guard = requireRole({ append }, file)(route)
  expect([await outcomeOf(guard), await outcomeOf(guard), await outcomeOf(guard)]).toEqual(['forbidden', 'forbidden', 'forbidden'])
  expect(append).toHaveBeenCalledTimes(2)
})
