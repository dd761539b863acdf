import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { contextOf, type Scripted, scripted } from '../../../test/support/service.ts'
import { Fault, type FaultDetails, type FaultKind, faultTable } from '../../domain/fault.ts'
import { type Candidate, callWithFailover } from './failover.ts'

const busy = (retryAfter: number): Scripted => failing('unavailable', { retryAfter, effect: 'nothingSent' })
const well = (): Scripted => scripted(() => ({ body: {} }))

function failing(kind: FaultKind, details: FaultDetails = {}): Scripted {
  return scripted(() => {
    throw new Fault(kind, 'no', details)
  })
}

// Deadlines are on this clock.
beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

async function send(
  op: 'getRate' | 'createTransaction',
  services: readonly Scripted[],
  deadline = performance.now() + 1_000,
  offerOf?: (candidate: Candidate) => Promise<object | undefined>,
): Promise<unknown> {
  const candidates = services.map((service, at) => ({ tag: `p${at}`, service }))
  return callWithFailover(op, {} as never, contextOf({ deadline }), candidates, candidates, offerOf && { offerOf }).then(
    ({ tag }) => tag,
    (reason) => reason,
  )
}

it.each(['getRate', 'createTransaction'] as const)('%s goes to the next provider if one is unavailable', async (op) => {
  expect(await send(op, [busy(3), well()])).toBe('p1')
})

it('a create that the ledger cannot store is not sent to another provider', async () => {
  const next = well()
  expect(await send('createTransaction', [failing('unavailable', { effect: 'refused', retryAfter: 5 }), next])).toMatchObject({
    retryAfter: 5,
  })
  expect(next.calls).toEqual([])
})

it.each([
  ['failed', {}],
  ['timedOut', {}],
  ['outcomeUnknown', {}],
  ['unavailable', { provider: 'p0', effect: 'refused' }], // the provider's 429
  ['unreachable', {}],
  ['inProgress', { effect: 'refused' }],
] as const)('a create that may have reached a provider is not sent to another (%s, %o)', async (kind, details) => {
  const next = well()
  expect(await send('createTransaction', [failing(kind, details), next])).toMatchObject({ kind })
  expect(next.calls).toEqual([])
})

it.each(Object.keys(faultTable) as FaultKind[])(
  'a create that ends with %s goes to another provider only if none of it was sent',
  async (kind) => {
    const next = well()
    for (const effect of ['refused', 'maybe'] as const)
      await send('createTransaction', [failing(kind, { provider: 'p0', effect }), next])
    expect(next.calls).toEqual([])
    await send('createTransaction', [failing(kind, { provider: 'p0', effect: 'nothingSent' }), next])
    expect(next.calls).toHaveLength(faultTable[kind].failover === 'ifUnsent' ? 1 : 0)
  },
)

describe('a create that a provider turns away', () => {
  const limited = (): Scripted =>
    failing('unavailable', { provider: 'p0', effect: 'refused', unavailableCause: 'limited', retryAfter: 7 })
  const notHere = (): Scripted => failing('invalid', { provider: 'p0', effect: 'refused', reason: 'not_offered' })
  const sendAs = (services: readonly Scripted[], ...takers: readonly string[]): Promise<unknown> =>
    send('createTransaction', services, undefined, async ({ tag }) => (takers.includes(tag) ? {} : undefined))

  it('goes to the next one that may take it, by its 429 or by its word', async () => {
    for (const first of [limited, notHere]) {
      expect(await sendAs([first(), well()], 'p1')).toBe('p1')
      const [passed, next] = [well(), well()]
      expect(await sendAs([first(), passed, next], 'p2')).toBe('p2')
      expect(passed.calls).toEqual([])
    }
  })

  it('is refused as the first did, if none may', async () => {
    expect(await sendAs([limited(), well()])).toMatchObject({ unavailableCause: 'limited', retryAfter: 7 })
    expect(await sendAs([notHere(), well()])).toMatchObject({ reason: 'not_offered' })
    expect(await sendAs([notHere(), busy(3)], 'p1')).toMatchObject({ reason: 'not_offered' })
  })

  it('is refused where it may have been made, or for another reason', async () => {
    const next = well()
    const made = failing('unavailable', { provider: 'p0', unavailableCause: 'limited' })
    const refused = failing('invalid', { provider: 'p0', effect: 'refused', reason: 'refused' })
    expect(await sendAs([made, next], 'p1')).toMatchObject({ kind: 'unavailable' })
    expect(await sendAs([refused, next], 'p1')).toMatchObject({ reason: 'refused' })
    expect(next.calls).toEqual([])
  })
})

it.each(['getRate', 'createTransaction'] as const)(
  '%s: if all are unavailable, the smallest Retry-After is returned',
  async (op) => {
    expect(await send(op, [busy(9), busy(3), busy(7)])).toMatchObject({ kind: 'unavailable', retryAfter: 3 })
  },
)

it('a create gets the error of the provider that offers the pair', async () => {
  const [offered, address] = (['not_offered', 'address_invalid'] as const).map((reason) =>
    failing('invalid', { reason, effect: 'nothingSent' }),
  )
  const both = [offered, address] as [Scripted, Scripted]
  for (const order of [both, both.toReversed()]) {
    expect(await send('createTransaction', order)).toMatchObject({ reason: 'address_invalid' })
  }
  expect(await send('createTransaction', [...both, busy(3)])).toMatchObject({ kind: 'unavailable' })
})

it('U2: a quote leaves half of its time to the next provider, a create none', async () => {
  for (const [op, share] of [
    ['getRate', 0.5],
    ['createTransaction', 1],
  ] as const) {
    const [first, last] = [busy(1), well()]
    const deadline = performance.now() + 1_000
    await send(op, [first, last], deadline)
    const ends = [first, last].map(({ calls }) => calls[0]?.context.deadline ?? 0)
    expect(deadline - (ends[0] as number)).toBeCloseTo(1_000 * (1 - share))
    expect(ends[1]).toBe(deadline)
  }
})

it('U2: of several a quote gives each but the last half of what is left', async () => {
  const services = [busy(1), busy(1), busy(1), well()]
  const deadline = performance.now() + 8_000
  await send('getRate', services, deadline)
  const shares = services.map(({ calls }) => 1 - (deadline - (calls[0]?.context.deadline ?? 0)) / 8_000)
  for (const [at, share] of [0.5, 0.5, 0.5, 1].entries()) expect(shares[at]).toBeCloseTo(share)
})

it('if several do not offer the pair, the error is that of the first in the list, in whichever order they are tried', async () => {
  const services = (['not_offered', 'unknown_asset', 'network_unknown'] as const).map((reason) => failing('invalid', { reason }))
  const listed = services.map((service, at) => ({ tag: `p${at}`, service }))
  const context = contextOf({ deadline: performance.now() + 1_000 })
  for (const order of [listed, listed.toReversed(), [listed[1], listed[2], listed[0]] as typeof listed])
    await expect(callWithFailover('getRate', {} as never, context, order, listed)).rejects.toMatchObject({
      reason: 'not_offered',
    })
})
