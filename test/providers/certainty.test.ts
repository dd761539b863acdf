/** docs/contract.md §6, §10, §16: what a provider's word decides, and what only the status decides. */
import { describe, expect, it } from 'vitest'
import { expectRefusal } from '../support/expectations.ts'
import type { ProviderName } from './documented.ts'
import { assets, createdStatus, type Rig, startRig } from './rig.ts'

/** Words that mean: refused for a fault of the request. */
const refusals = {
  changenow: { error: 'not_valid_address', message: 'Bad address' },
  letsexchange: { success: false, error: { validation: { withdrawal: ['Bad address'] } } },
  stealthex: { err: { kind: 'InvalidData', details: 'Bad address' } },
} as const satisfies Partial<Record<ProviderName, object>>

type Refusing = keyof typeof refusals

const statuses = (...each: readonly number[]) =>
  (Object.keys(refusals) as readonly Refusing[]).flatMap((name) => each.map((status) => ({ name, status })))

async function refusing(
  name: Refusing,
  operation: 'create' | 'quote',
  status: number,
  json: object = refusals[name],
): Promise<Rig> {
  const rig = await startRig(name)
  rig.exchange.tamper = (at) => (at === operation ? { status, json } : undefined)
  return rig
}

describe('a create', () => {
  it.each(statuses(408, 409, 500, 502, 503))('P10: a word in a $status of $name proves nothing', async ({ name, status }) => {
    await using rig = await refusing(name, 'create', status)
    expectRefusal(await rig.create('A', { idempotencyKey: 'order-1' }), 'A', 504, 'outcome_unknown')
    expect(await rig.gateway.ledgerAdmin.unresolved()).toHaveLength(1)
  })

  it.each(statuses(400, 404, 422))('P10: a word in a $status of $name is a refusal', async ({ name, status }) => {
    await using rig = await refusing(name, 'create', status)
    expectRefusal(await rig.create('A'), 'A', 400)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })

  it.each(statuses(429))('P10: whatever its word, a $status of $name is its limit', async ({ name, status }) => {
    await using rig = await refusing(name, 'create', status)
    expectRefusal(await rig.create('A'), 'A', 503)
    expect(await rig.gateway.ledgerAdmin.unresolved()).toEqual([])
  })
})

it.each(['create', 'quote'] as const)('P11: a word for "not found" in the response to a %s is 400, not 404', async (operation) => {
  await using rig = await refusing('stealthex', operation, 404, { err: { kind: 'NotFound', details: 'No such coin' } })
  expectRefusal(operation === 'create' ? await rig.create('A') : await rig.quote('A'), 'A', 400, 'refused')
})

it.each([[''], [false], [[]]])('P12: %j in the place of a refusal is none', async (error) => {
  await using rig = await startRig('letsexchange')
  rig.exchange.tamper = (_, { json }) => ({ json: Array.isArray(json) ? json : { ...(json as object), error } })
  expect((await rig.quote('A')).status).toBe(200)
  expect((await rig.create('A', { from: assets.eth })).status).toBe(createdStatus.A)
})
