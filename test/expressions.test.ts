// Takes long: every expression is tried with thousands of texts.
/** Row H23: no regular expression takes more than linear time, for any text. */
import { checkSync } from 'recheck'
import { describe, expect, it, test } from 'vitest'
import { type Expression, expressionsOfSource } from './expressions/expressions.ts'

const { literals, computed } = expressionsOfSource()

/** Not linear, and never given more characters than these. */
const bounded: Readonly<Record<string, number>> = {
  'src/domain/amount.ts: /0+$/': 64, // an amount's lexeme
  'src/sandbox/market/decimal.ts: /0+$/': 64,
  'src/domain/address/same-address.ts: /^0x0*([0-9a-f]+)$/i': 400, // the longest address that is compared
  'src/domain/address/same-contract.ts: /\\0+$/': 20, // a code's bytes
  'src/config/interpolation.ts: /\\$\\{([^}]*)(\\}?)/g': 10_000, // the operator's own file
}
for (const { name } of literals)
  if (name.startsWith('src/domain/faults/public-message.ts')) Object.assign(bounded, { [name]: 1_000 })

/** What is computed, with what it may become. */
const becomes: Readonly<Record<string, readonly RegExp[]>> = {
  'src/domain/key.ts: new RegExp(`^${prefix}[0-9A-Za-z]{${randomDigits + checksumDigits}}$`)': [/^sg_live_[0-9A-Za-z]{49}$/],
  'src/domain/address/decoders.ts: new RegExp(`^${prefix}([0-9a-fA-F]{${minDigits},${maxDigits}})$`)': [
    /^0x([0-9a-fA-F]{64,64})$/,
    /^0x([0-9a-fA-F]{1,64})$/,
  ],
  'src/domain/address/same-contract.ts: new RegExp(`^(?:([A-Za-z0-9]{1,40})[-:.+/])?(${issuer})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$`)':
    [/^(?:([A-Za-z0-9]{1,40})[-:.+/])?(G[A-Z2-7]{55}|r[1-9A-HJ-NP-Za-km-z]{24,34})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$/],
  "src/domain/faults/confidential.ts: new RegExp(sources.join('|'), 'i')": [
    /provider-key-alpha|(?<![a-z0-9])api\.alpha\.example(?![a-z0-9])|(?<![a-z0-9])alpha(?![a-z0-9])/i,
  ],
}

const words = [
  ' ',
  '\t',
  '0',
  '1',
  'a',
  'A',
  '-',
  '_',
  '.',
  ':',
  ';',
  ',',
  '/',
  '"',
  '\\',
  '=',
  '[',
  ']',
  '{',
  '}',
  '$',
  '~',
  '\x01',
  'é',
]
const pumps = [
  ...words,
  'a.',
  '1.',
  'a:',
  '0:',
  '-a',
  '"\\',
  '\\"',
  ' ;',
  '; ',
  '${',
  'http:',
  'localhost',
  '127.',
  '255.255.',
  'x-y.',
  'charset=',
]
const ends = ['', '\x01', '!', '"', 'z', '\n']

/** The longest that any text of so many characters took, in milliseconds; the first that is over the limit. */
function slowest(expression: RegExp, length: number, limitMs: number): number {
  let maxMs = 0
  for (const start of ['', 'A:', ...words]) {
    for (const pump of pumps) {
      const text = start + pump.repeat(Math.ceil(length / pump.length)).slice(0, length - 1)
      for (const end of ends) {
        // The quickest of some: a busy machine makes any of them slow.
        let took = timeOf(expression, text + end)
        for (let again = 0; again < 3 && took > limitMs; again++) took = Math.min(took, timeOf(expression, text + end))
        maxMs = Math.max(maxMs, took)
        if (maxMs > limitMs) return maxMs
      }
    }
  }
  return maxMs
}

function timeOf(expression: RegExp, text: string): number {
  expression.lastIndex = 0
  const began = performance.now()
  expression.test(text)
  return performance.now() - began
}

/** Characters, and milliseconds: what is linear takes a hundredth of it, what is quadratic several times as much. */
const [long, longLimit] = [4_096, 2.5]
/** Of what is not linear and bounded, in milliseconds. */
const boundedLimit = 40

function expectBounded({ name, source, flags }: Expression): void {
  const atMost = bounded[name]
  if (atMost === undefined) expect(checkSync(source, flags, { timeout: 10_000 })).toMatchObject({ status: 'safe' })
  const [length, limitMs] = atMost === undefined ? [long, longLimit] : [atMost, boundedLimit]
  expect(slowest(new RegExp(source, flags), length, limitMs)).toBeLessThan(limitMs)
}

describe('H23: an expression takes no more than its text is long', () => {
  it.each(literals)('$name', expectBounded)

  it.each(Object.entries(becomes).flatMap(([name, all]) => all.map(({ source, flags }) => ({ name, source, flags }))))(
    '$name as /$source/',
    expectBounded,
  )
})

test('H23: every expression that is computed is looked at, and every bound is of an expression that is there', () => {
  expect(computed.toSorted()).toEqual(Object.keys(becomes).toSorted())
  expect(Object.keys(bounded).filter((name) => !literals.some((literal) => literal.name === name))).toEqual([])
})

test('H23: a slow one is noticed', () => {
  const header = { source: '^([A-Za-z0-9-]{1,64}):[ \\t]*([\\x20-\\x7e]*?)[ \\t]*$', flags: '' }
  expect(checkSync(header.source, header.flags)).toMatchObject({ status: 'vulnerable' })
  expect(slowest(new RegExp(header.source), 700, boundedLimit)).toBeGreaterThan(boundedLimit)
})
