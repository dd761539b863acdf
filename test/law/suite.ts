/** What every form holds: one suite, run for each. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fault, type FaultKind, faultTable } from '../../src/domain/fault.ts'
import { keyed, type Op, ops } from '../../src/domain/service.ts'
import { progress, type Status, statuses } from '../../src/domain/status.ts'
import type { Form } from '../../src/wire/form.ts'
import { type Ability, abilities } from './abilities.ts'
import { type Fields, requestOf, responseOf } from './arbitrary.ts'
import { key, sendRequest } from './chain.ts'
import { expectedFault } from './faults.ts'

const faultKinds = Object.keys(faultTable) as readonly FaultKind[]

export interface FormUnderTest {
  readonly form: Form
  /** The statuses that its document lists. */
  readonly statuses: readonly Status[]
  /** Fields of its responses that its document lets be absent, by operation. */
  readonly absent: Readonly<Record<Op, readonly string[]>>
  /** Whether a response that lacks some of them is valid in the form; by default all are. */
  readonly isPossible?: (op: Op, response: Fields) => boolean
  /** What it cannot do. The suite holds that it truly cannot, so a reason never outlives its cause. */
  readonly skip: readonly { readonly reason: string; readonly tests: readonly Ability[] }[]
}

const paged: ReadonlySet<Op> = new Set<Op>(['listCurrencies', 'listTransactions'])

export function testForm(subject: FormUnderTest): void {
  const { form } = subject
  describe(`form ${form.name}`, () => {
    describe.each(ops)('%s', (op) => {
      it('the service gets exactly the request, and exactly its response is returned', () => carries(subject, op))
      it('a request that the form cannot carry is refused by the name of the field, and nothing is sent', () => refuses(form, op))
      // The list that is not there is an empty one.
      const understood = faultKinds.filter((kind) => kind !== 'notFound' || !paged.has(op))
      it.each(understood)('a service that fails with %s is understood', (kind) =>
        fails(form, op, new Fault(kind, 'No such thing.', { retryAfter: 9 })),
      )
    })
    it.each(statuses)('the status %s arrives as the latest that is not later', (status) => rounds(subject, status))
    it('a request without a required field of the form is not sent', () => demands(form))
    for (const [ability, check] of Object.entries(abilities)) {
      const lack = subject.skip.find(({ tests }) => tests.includes(ability as Ability))
      if (lack) it.fails(`cannot: ${ability}, for ${lack.reason}`, () => check(form))
      else it(ability, () => check(form))
    }
  })
}

/** Requests and responses of all kinds, through both edges and back. */
async function carries({ form, statuses: own, absent, isPossible }: FormUnderTest, op: Op): Promise<void> {
  const row = responseOf(form, op, own, absent[op]).filter((response) => isPossible?.(op, response) ?? true)
  const page = fc.record({ items: fc.array(row, { maxLength: 3 }), total: fc.nat() })
  const property = fc.asyncProperty(requestOf(form, op), paged.has(op) ? page : row, async (request, given) => {
    const { response, fault, received } = await sendRequest(form, op, request, given)
    expect(fault).toBeUndefined()
    expect(received).toEqual([{ op, request, key: keyed.has(op) ? key : undefined }])
    expect(response).toEqual(paged.has(op) ? { ...given, dropped: 0 } : given)
  })
  await fc.assert(property, { numRuns: 150 })
}

const values: Readonly<Record<string, unknown>> = {
  codeFrom: 'BTC',
  codeTo: 'BTC',
  coinFrom: 'BTC',
  coinTo: 'BTC',
  networkFrom: 'BTC',
  networkTo: 'BTC',
  dateFrom: '2026-07-01',
  dateTo: '2026-07-01',
  search: 'BTC',
  withdrawalExtraId: '7',
  refundExtraId: '7',
  depositExtraId: '7',
  withdrawalAmount: '7',
}

async function refuses(form: Form, op: Op): Promise<void> {
  const fields = Object.keys(values).filter((field) => !form.capabilities.requestFields[op].has(field))
  const property = fc.asyncProperty(requestOf(form, op), fc.constantFrom(...fields), async (request, field) => {
    const { fault, sent } = await sendRequest(form, op, { ...request, [field]: values[field] }, {})
    expect(fault).toMatchObject({ kind: 'invalid', field, effect: 'nothingSent' })
    expect(sent).toBe(0)
  })
  await fc.assert(property, { numRuns: 50 })
}

async function demands(form: Form): Promise<void> {
  const demanded = {
    amountIn: '1',
    rateType: 'float',
    withdrawalAddress: 'w',
    codeFrom: 'B',
    codeTo: 'X',
    coinFrom: 'B',
    coinTo: 'X',
    networkFrom: 'B',
    networkTo: 'X',
  }
  const fields = Object.entries(demanded).filter(([field]) => form.capabilities.requestFields.createTransaction.has(field))
  // One of two amounts is needed, which the service says: `test/forms/received-amounts`.
  for (const [gone] of fields.filter(([field]) => field !== 'amountIn')) {
    const request = Object.fromEntries(fields.filter(([field]) => field !== gone))
    const { fault, sent } = await sendRequest(form, 'createTransaction', request, {})
    expect(fault).toMatchObject({ kind: 'invalid', field: gone })
    expect(sent).toBe(0)
  }
}

async function fails(form: Form, op: Op, given: Fault): Promise<void> {
  const [request] = fc.sample(requestOf(form, op), { numRuns: 1, seed: 1 })
  const { fault } = await sendRequest(form, op, request as Fields, given)
  expect(fault).toMatchObject(expectedFault(op, given))
}

/** Ends are never rounded; a form without a word for one leaves it out. */
async function rounds({ form, statuses: own, absent, isPossible }: FormUnderTest, status: Status): Promise<void> {
  const steps: readonly Status[] = progress
  const latest = steps.slice(0, steps.indexOf(status) + 1).findLast((step) => own.includes(step))
  const rounded = own.includes(status) ? status : latest
  for (const op of ['createTransaction', 'getTransaction'] as const) {
    const responses = responseOf(form, op, own, absent[op]).filter((response) => isPossible?.(op, response) ?? true)
    const [response] = fc.sample(responses, { numRuns: 1, seed: 2 })
    const [request] = fc.sample(requestOf(form, op), { numRuns: 1, seed: 3 })
    const given = { amountOut: '1', ...response, status }
    expect((await sendRequest(form, op, request as Fields, given)).response).toMatchObject(
      rounded === undefined ? {} : { status: rounded },
    )
  }
}
