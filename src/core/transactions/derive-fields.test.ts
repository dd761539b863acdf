import { expect, it, test } from 'vitest'
import { providerScope } from '../../../test/support/provider-scope.ts'
import { contextOf, scripted } from '../../../test/support/service.ts'
import type { Observation } from '../../domain/observation.ts'
import type { SwapService } from '../../domain/service.ts'
import { formA } from '../../forms/a.ts'
import { providerForms } from '../../forms/index.ts'
import { deriveFields, plausibleExpiry } from './derive-fields.ts'

const quote = { amountIn: '0.10', amountOut: '6500.5' }

async function quoted(form: string, body: object, derived?: readonly string[]) {
  const provider = providerForms.find(({ name }) => name === form)
  if (!provider) throw new Error(form)
  const service = deriveFields(provider.capabilities)(scripted(() => ({ body, derived })))
  return service.call('getRate', {} as never, { ...contextOf(), clientCapabilities: formA.capabilities })
}

it('a quote of a form without a rate gets the amount received divided by the amount', async () => {
  expect(await quoted('changenow', quote)).toMatchObject({ body: { ...quote, rate: '65005' }, derived: ['rate'] })
})

it('what the form itself derived is still reported', async () => {
  expect((await quoted('stealthex', quote, ['amountIn'])).derived).toEqual(['amountIn', 'rate'])
})

it('a rate that a form has and left empty stays empty', async () => {
  expect((await quoted('exolix', quote)).body).toEqual(quote)
})

const now = Date.parse('2026-10-25T00:00:00Z')

/** What is left of an expiry, in the response of a create and of a get; and how often it was counted. */
async function judge(
  validUntil: unknown,
  { createdAt = '2026-10-25T00:00:00Z', timezone = 'UTC' }: { createdAt?: string; timezone?: string } = {},
) {
  const observed: Observation[] = []
  const provider: SwapService = { call: async () => ({ body: { id: 'x', createdAt, validUntil } }) as never }
  const observe = (observation: Observation): void => void observed.push(observation)
  const service = plausibleExpiry(providerScope({ clock: () => now, configured: { timezone }, observe }))(provider)
  const created = await service.call('createTransaction', {} as never, {} as never)
  const read = await service.call('getTransaction', { id: 'x' }, {} as never)
  return [created.body.validUntil, read.body.validUntil, observed.length]
}

test.each([
  ['RFC 3339', '2026-10-25T02:30:00.5+02:00', '2026-10-25T00:30:00.500Z'],
  ['a count of seconds', String(now / 1_000 + 1_800), '2026-10-25T00:30:00.000Z'],
  ['a count of milliseconds', String(now + 1_800_000), '2026-10-25T00:30:00.000Z'],
  ['60 days away', '2026-12-24T00:00:00Z', '2026-12-24T00:00:00.000Z'],
])('%s is written in UTC', async (_, text, expected) => {
  expect(await judge(text)).toEqual([expected, expected, 0])
})

test('of an hour that the zone has twice, the later one counts', async () => {
  const expected = '2026-10-25T01:30:00.000Z'
  expect(await judge('2026-10-25 02:30:00', { timezone: 'Europe/Berlin' })).toEqual([expected, expected, 0])
})

test.each([
  ['no time', 'soon'],
  ['empty', ''],
  ['the moment of the creation', '2026-10-25T00:00:00Z'],
  ['before it', '2026-10-24T23:59:59Z'],
  ['more than 60 days away', '2026-12-24T00:00:01Z'],
])('one that is %s is left out and counted', async (_, text) => {
  expect(await judge(text)).toEqual([undefined, undefined, 2])
})

test('a create happens now, whatever time its provider gives it; a get has its own', async () => {
  const text = '2026-10-25T00:30:00Z'
  expect(await judge(text, { createdAt: '2020-01-01T00:00:00Z' })).toEqual(['2026-10-25T00:30:00.000Z', undefined, 1])
  expect(await judge(text, { createdAt: 'yesterday' })).toEqual(['2026-10-25T00:30:00.000Z', undefined, 1])
})

test('none is none', async () => {
  expect(await judge(undefined)).toEqual([undefined, undefined, 0])
})
