import { describe, expect, it } from 'vitest'
import { Fault } from '../../domain/fault.ts'
import { type CreateResponse, classifyOutcome } from './creation.ts'

function create(response: () => unknown): Promise<CreateResponse> {
  const send = async (): Promise<CreateResponse> => response() as CreateResponse
  return classifyOutcome(send())
}

const fail = (fault: unknown) => (): never => {
  throw fault
}

it('is done with a deposit address', async () => {
  const response = { body: { id: 'tx-1', depositAddress: 'bc1' }, provider: 'alpha' }
  expect(await create(() => response)).toBe(response)
})

describe('is unknown', () => {
  it.each(['', undefined])('if the deposit address is %o, with the provider', async (depositAddress) => {
    const created = create(() => ({ body: { id: 'tx-1', depositAddress }, provider: 'alpha' }))
    await expect(created).rejects.toMatchObject({ kind: 'outcomeUnknown', effect: 'maybe', provider: 'alpha' })
  })

  it('if something may have been created, with the cause and the provider of the failure', async () => {
    const cause = new Fault('timedOut', 'late', { provider: 'beta' })
    await expect(create(fail(cause))).rejects.toMatchObject({ kind: 'outcomeUnknown', cause, provider: 'beta' })
  })

  it('without a provider if the failure names none', async () => {
    const failure = await create(fail(new Fault('failed', 'broken'))).catch((reason) => reason)
    expect(failure).toMatchObject({ kind: 'outcomeUnknown' })
    expect(failure.provider).toBeUndefined()
  })

  it('after an unexpected error', async () => {
    await expect(create(fail(new TypeError('a mistake')))).rejects.toMatchObject({ kind: 'outcomeUnknown' })
  })
})

describe('is refused', () => {
  it('with the same fault if nothing was created', async () => {
    const refusal = new Fault('invalid', 'no', { effect: 'refused' })
    await expect(create(fail(refusal))).rejects.toBe(refusal)
  })

  it('as unreachable if nothing was sent in time: 504 means an unknown outcome', async () => {
    const late = new Fault('timedOut', 'late', { effect: 'refused' })
    await expect(create(fail(late))).rejects.toMatchObject({ kind: 'unreachable', effect: 'nothingSent', cause: late })
  })
})
