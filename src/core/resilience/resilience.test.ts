import { expect, it } from 'vitest'
import { contextOf, scripted } from '../../../test/support/service.ts'
import { Fault } from '../../domain/fault.ts'
import { renewQuote } from './resilience.ts'

const expired = new Fault('invalid', 'The rate is over.', { provider: 'alpha', effect: 'refused', refusal: 'quoteExpired' })

function created(...faults: readonly (Fault | undefined)[]) {
  const provider = scripted((call) => {
    const fault = faults[call]
    if (fault) throw fault
    return 'created'
  })
  const result = renewQuote()(provider).call('createTransaction', {} as never, contextOf())
  return { provider, result: result.catch((reason) => reason) }
}

it('a create whose own quote is over is sent once more', async () => {
  const { provider, result } = created(expired)
  expect(await result).toBe('created')
  expect(provider.calls).toHaveLength(2)
})

it('if that one is over too, the provider has failed, and nothing was created', async () => {
  const { provider, result } = created(expired, expired)
  expect(await result).toMatchObject({ kind: 'failed', effect: 'refused', provider: 'alpha' })
  expect(provider.calls).toHaveLength(2)
})

it('any other refusal is not repeated', async () => {
  const refused = new Fault('invalid', 'no', { provider: 'alpha', effect: 'refused' })
  const { provider, result } = created(refused)
  expect(await result).toBe(refused)
  expect(provider.calls).toHaveLength(1)
  const { result: second } = created(expired, refused)
  expect(await second).toBe(refused)
})
