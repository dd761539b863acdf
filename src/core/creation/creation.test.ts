import { beforeEach, expect, it, test } from 'vitest'
import { Fault } from '../../domain/fault.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { NewTransaction, Transaction } from '../../domain/swap.ts'
import { aroundAll, type Layer, mapResponses } from '../layer.ts'
import { type CreateSteps, creation, type JudgeCreate, type RecordCreate, type SendCreate, type VerifyCreate } from './creation.ts'

const request = { amountIn: '0.1' } as NewTransaction
const context = {} as Context
const body = { id: 'tx-1' } as Transaction

let events: string[]
beforeEach(() => {
  events = []
})

const provider = {
  async call(op: string) {
    events.push(op)
    return { body, provider: 'alpha' }
  },
} as unknown as SwapService

const translate: Layer = aroundAll(async (op, passed, within, next) => {
  events.push('to the provider')
  const response = await next.call(op, passed, within)
  events.push('to the client')
  return response
})

const send: SendCreate = async (passed, within, next) => {
  events.push('intent')
  return { intent: 'intent-1', response: await next.call('createTransaction', passed, within) }
}

const verify: VerifyCreate = (sent) => {
  events.push('verify')
  return { ...sent, contradicted: ['rateType'] }
}

const judge: JudgeCreate = async (verified) => {
  events.push('judge')
  const deposit = { isRefused: true, judgedIfTaken: [], claimAfter: async () => undefined, observe: () => {} }
  return { ...verified, judged: [], deposit }
}

const record: RecordCreate = async ({ intent, contradicted, response }) => {
  events.push(`record ${intent}, ${contradicted}`)
  return response
}

const steps: CreateSteps = { provider: 'alpha', record, layers: [translate], judge, verify, send }

it('is translated, sent, verified, judged, translated back and recorded', async () => {
  await creation(steps)(provider).call('createTransaction', request, context)
  expect(events).toEqual([
    'to the provider',
    'intent',
    'createTransaction',
    'verify',
    'judge',
    'to the client',
    'record intent-1, rateType',
  ])
})

it('is neither verified nor recorded if it fails', async () => {
  const fault = new Fault('outcomeUnknown', 'late')
  const failing = creation({ ...steps, send: () => Promise.reject(fault) })(provider)
  await expect(failing.call('createTransaction', request, context)).rejects.toBe(fault)
  expect(events).toEqual(['to the provider'])
})

test('other operations are only translated', async () => {
  await creation(steps)(provider).call('getTransaction', { id: 'tx-1' }, context)
  expect(events).toEqual(['to the provider', 'getTransaction', 'to the client'])
})

it('keeps its result past layers that make a response of their own', async () => {
  const renamed = mapResponses({ createTransaction: ({ body: { id } }) => ({ body: { id: `renamed ${id}` } as Transaction }) })
  const response = await creation({ ...steps, layers: [renamed] })(provider).call('createTransaction', request, context)
  expect(response.body.id).toBe('renamed tx-1')
  expect(events.at(-1)).toBe('record intent-1, rateType')
})

it('is not known to be done if a layer responds without having sent it', async () => {
  const responding: Layer = () => ({ call: async () => ({ body }) as never })
  const service = creation({ ...steps, layers: [responding] })(provider)
  await expect(service.call('createTransaction', request, context)).rejects.toMatchObject({
    kind: 'outcomeUnknown',
    effect: 'maybe',
    provider: 'alpha',
    cause: { kind: 'internal' },
  })
  expect(events).toEqual([])
})

test('steps in another order do not compile', () => {
  const wrong = [
    // @ts-expect-error: what was not sent cannot be verified
    { ...steps, send: verify } satisfies CreateSteps,
    // @ts-expect-error: what was not verified cannot be recorded
    { ...steps, verify: record } satisfies CreateSteps,
    // @ts-expect-error: a create is recorded after its response, not sent again
    { ...steps, record: send } satisfies CreateSteps,
    // @ts-expect-error: no step is a layer
    { ...steps, layers: [verify] } satisfies CreateSteps,
    // @ts-expect-error: a layer is no step
    { ...steps, send: translate } satisfies CreateSteps,
  ]
  expect(wrong).toHaveLength(5)
})
