/** Laws of the provider forms, over their goldens and over random requests. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { Fault } from '../../src/domain/fault.ts'
import { providerFormNamed } from '../../src/forms/index.ts'
import { known } from '../golden/check.ts'
import { type Connected, callProvider, expecting } from './connected.ts'
import { type ProviderGolden, readProviderGoldens } from './golden.ts'
import { providerPromises } from './promises.ts'

const amount = fc
  .tuple(fc.bigInt({ min: 1n, max: 10n ** 20n }), fc.stringMatching(/^[0-9]{0,18}$/), fc.constantFrom('', 'e-3', 'E2'))
  .map(([whole, fraction, power]) => `${whole}${fraction === '' ? '' : `.${fraction}`}${power}`)
const word = fc.stringMatching(/^[A-Z][A-Z0-9]{0,8}$/)
const time = fc.integer({ min: 1_700_000_000, max: 1_900_000_000 }).map((seconds) => new Date(seconds * 1_000).toISOString())

/** Values of request fields; all others are words. */
const values: Readonly<Record<string, fc.Arbitrary<unknown>>> = {
  amountIn: amount,
  amountOut: amount,
  rateType: fc.constantFrom('float', 'fixed'),
  page: fc.nat(1_000),
  size: fc.nat(100),
  offset: fc.nat(10_000),
  dateFrom: time,
  dateTo: time,
}

/** The responses of a golden with each text changed. */
async function answering(name: string, golden: ProviderGolden, change: (text: string) => string): Promise<Connected> {
  const exchanges = golden.exchanges.map(({ request, response }) => ({
    request,
    response: { ...response, body: change(response.body) },
  }))
  return callProvider(providerFormNamed(name), golden.request, golden.settings, expecting(exchanges).answer)
}

function bodyOf({ outcome }: Connected): Record<string, unknown> {
  if ('fault' in outcome) throw outcome.fault
  const { createdAt, ...body } = known(outcome.body as object) as Record<string, unknown>
  return body
}

/** The amounts of the test may make a quote one that is refused by its own limits. */
function isOutsideLimits({ outcome }: Connected): boolean {
  return 'fault' in outcome && outcome.fault instanceof Fault && outcome.fault.amountRange !== undefined
}

/** A fixed create whose quote is for another amount than was requested is refused. */
function isQuoteOfAnotherAmount({ outcome }: Connected): boolean {
  return 'fault' in outcome && outcome.fault instanceof Fault && outcome.fault.reason === 'mismatch'
}

const amountFields = /^(?:amount(?:In|Out)|rate|fee|(?:min|max)Amount|deposit(?:Min|Max))$/

/** Every amount in the outcome of a golden. */
function amountsIn(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, member]) =>
    amountFields.test(name) && typeof member === 'string' ? [member] : amountsIn(member),
  )
}

/** Amounts as JSON numbers or texts, each replaced by its substitute. */
function substitute(text: string, substitutes: ReadonlyMap<string, string>): string {
  return text.replace(/([:[,]\s*"?)(-?\d[\d.eE+-]*)(?="?\s*[,}\]])/g, (whole, before: string, lexeme: string) => {
    const other = substitutes.get(lexeme)
    return other === undefined ? whole : `${before}${other}`
  })
}

describe.each(Object.keys(providerPromises))('the provider form %s', (name) => {
  const form = providerFormNamed(name)
  const answered = readProviderGoldens(name).filter(({ outcome, exchanges }) => outcome.fault === undefined && exchanges.length > 0)
  const exact = answered.filter(({ outcome }) => !outcome.derived.includes('amountOut') && amountsIn(outcome.body).length > 0)

  it('keeps every digit of an amount', async () => {
    const property = fc.asyncProperty(fc.constantFrom(...exact), fc.infiniteStream(amount), async (golden, others) => {
      const lexemes = new Set(amountsIn(golden.outcome.body))
      const substitutes = new Map([...lexemes].map((lexeme) => [lexeme, others.next().value as string]))
      const expected = JSON.parse(substitute(JSON.stringify(bodyOf(await answering(name, golden, (text) => text))), substitutes))
      const changed = await answering(name, golden, (text) => substitute(text, substitutes))
      fc.pre(!isOutsideLimits(changed) && !isQuoteOfAnotherAmount(changed))
      // What a response lacks, the gateway has from the request.
      const assumed = 'derived' in changed.outcome ? changed.outcome.derived : []
      const own = Object.fromEntries(assumed.map((field) => [field, undefined]))
      expect({ ...bodyOf(changed), ...own }).toEqual({ ...(expected as object), ...own })
    })
    await fc.assert(property, { numRuns: 200 })
  })

  it('drops an unknown member, and counts it', async () => {
    const property = fc.asyncProperty(fc.constantFrom(...answered), fc.nat(), fc.jsonValue(), async (golden, place, value) => {
      const expected = await answering(name, golden, (text) => text)
      const changed = await answering(name, golden, (text) => {
        const objects = [...text.matchAll(/\{(?=\s*")/g)].map(({ index }) => index + 1)
        const at = objects[place % objects.length]
        return at === undefined ? text : `${text.slice(0, at)}"unheardOf":${JSON.stringify(value)},${text.slice(at)}`
      })
      expect(bodyOf(changed)).toEqual(bodyOf(expected))
      const added = changed.drift.filter((line) => line === '_other unknownField').length
      const before = expected.drift.filter((line) => line === '_other unknownField').length
      expect(changed.drift.length - expected.drift.length).toBe(added - before)
      expect(added - before).toBeLessThanOrEqual(golden.exchanges.length)
    })
    await fc.assert(property, { numRuns: 200 })
  })

  it('writes different requests differently', () => {
    const settings = Object.fromEntries(form.settings.map((setting) => [setting, 'set']))
    for (const { requestCodec } of form.operations) {
      const fields = [...new Set(requestCodec.slots.map(({ field }) => field))]
      if (fields.length === 0) continue
      const request = fc.record(Object.fromEntries(fields.map((field) => [field, values[field] ?? word])))
      const write = (value: object): string => JSON.stringify(requestCodec.encode(value, settings))
      const property = fc.property(request, request, fc.constantFrom(...fields), (a, b, field) => {
        const changed = { ...a, [field]: b[field] }
        expect(write(a) === write(changed)).toBe(JSON.stringify(a) === JSON.stringify(changed))
      })
      fc.assert(property, { numRuns: 100 })
    }
  })
})
