import { expect, test } from 'vitest'
import { valueIn } from '../domain/context-values.ts'
import { Fault } from '../domain/fault.ts'
import type { Context, SwapService } from '../domain/service.ts'
import { recordTraces, type Span } from '../domain/trace.ts'
import { aroundAll } from './layer.ts'
import { queueSpan, traced, tracedQueue } from './traced.ts'

const taken: Span[] = []
const tracing = recordTraces(1, (spans) => void taken.push(...spans))

function traceOf(): { readonly root: Span; readonly context: Context } {
  taken.length = 0
  const root = tracing.begin('server', 'HTTP', [])
  return { root, context: { caller: { address: '' }, span: root } as unknown as Context }
}

/** A service that records the span of each call. */
function service(passedContexts: (Span | undefined)[], fault?: Fault): SwapService {
  return {
    async call(_, __, { span }) {
      passedContexts.push(span)
      if (fault) throw fault
      return { body: {} } as never
    },
  }
}

const passThrough = aroundAll((op, request, context, next) => next.call(op, request, context))

test('a layer has a span for operations that may wait, including the layers inside', async () => {
  const { root, context } = traceOf()
  const passedContexts: (Span | undefined)[] = []
  const wrapped = traced('quoteCache', passThrough, 'alpha')(service(passedContexts))
  await wrapped.call('getRate', {} as never, context)
  await wrapped.call('listCurrencies', {} as never, context)
  expect(passedContexts.map((span) => span?.name)).toEqual(['quoteCache', 'HTTP'])
  root.trace.finish(false)
  expect(taken.map(({ name }) => name)).toEqual(['HTTP', 'quoteCache'])
  expect(taken[1]?.attributes).toEqual({ 'swapgate.provider': 'alpha' })
})

test('a queue ends when the call leaves it, and the call has a sibling span', async () => {
  const { root, context } = traceOf()
  const passedContexts: (Span | undefined)[] = []
  const last: SwapService = {
    call(op, request, passed) {
      expect(valueIn(passed, queueSpan)?.endedAt).toBeDefined()
      return service(passedContexts).call(op, request, passed)
    },
  }
  await tracedQueue([passThrough, passThrough], 'alpha')(last).call('getRate', {} as never, context)
  expect(passedContexts).toEqual([root])
  root.trace.finish(false)
  expect(taken.map(({ name, fault }) => [name, fault])).toEqual([
    ['HTTP', undefined],
    ['queue', undefined],
  ])
})

test('a rejected call ends the queue with the reason', async () => {
  const { root, context } = traceOf()
  const refusing = aroundAll(() => Promise.reject(new Fault('unavailable', 'Not now.')))
  await expect(tracedQueue([refusing], 'alpha')(service([])).call('getRate', {} as never, context)).rejects.toThrow('Not now.')
  root.trace.finish(false)
  expect(taken.at(-1)).toMatchObject({ name: 'queue', fault: { kind: 'unavailable' } })
})

test('a failure passes unchanged, and ends the span', async () => {
  const { root, context } = traceOf()
  const fault = new Fault('failed', 'No.')
  await expect(traced('quoteCache', passThrough)(service([], fault)).call('getRate', {} as never, context)).rejects.toBe(fault)
  root.trace.finish(false)
  expect(taken.at(-1)).toMatchObject({ name: 'quoteCache', fault })
})

test('without a trace there is no span, and the context is the same', async () => {
  const contexts: Context[] = []
  const last: SwapService = {
    async call(_, __, context) {
      contexts.push(context)
      return {} as never
    },
  }
  const context = { caller: { address: '' } } as unknown as Context
  await traced('quoteCache', tracedQueue([passThrough], 'alpha'))(last).call('getRate', {} as never, context)
  expect(contexts).toEqual([context])
  expect(contexts[0]).toBe(context)
})
