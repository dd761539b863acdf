// Takes long: every expression of the source is analysed.
/** No regular expression takes more than linear time, for any text. */
import { checkSync } from 'recheck'
import { expect, it, test } from 'vitest'
import { expressionsOfSource } from './expressions/expressions.ts'

const { literals, computed } = expressionsOfSource()

/** Not linear, and never given more characters than these. */
const bounded: Readonly<Record<string, number>> = {
  '/0+$/': 64, // an amount's lexeme
  '/^0x0*([0-9a-f]+)$/i': 400, // the longest address that is compared
  '/\\0+$/': 20, // a code's bytes
  '/\\$\\{([^}]*)(\\}?)/g': 10_000, // the operator's own file
  // A provider's message:
  '/[a-z][a-z0-9+.-]*:\\/\\//i': 1_000,
  '/(?:[a-z0-9-]+\\.){2,}[a-z]{2,}|[a-z0-9-]\\.(?:com|net|org|io|dev|app|xyz|info|local|internal|lan)\\b/i': 1_000,
  '/(?=[A-Za-z_-]*\\d)[A-Za-z0-9_-]{24,}/': 1_000,
  '/\\b(?:bearer|api[-_ ]?key|authorization)\\b\\s*[:=]?\\s*\\S*\\d/i': 1_000,
}

/** What is computed, with what it may become. */
const becomes: Readonly<Record<string, readonly RegExp[]>> = {
  'new RegExp(`^${prefix}[0-9A-Za-z]{${randomDigits + checksumDigits}}$`)': [/^sg_live_[0-9A-Za-z]{49}$/],
  'new RegExp(`^${prefix}([0-9a-fA-F]{${minDigits},${maxDigits}})$`)': [/^0x([0-9a-fA-F]{64,64})$/, /^0x([0-9a-fA-F]{1,64})$/],
  'new RegExp(`^(?:([A-Za-z0-9]{1,40})[-:.+/])?(${issuer})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$`)': [
    /^(?:([A-Za-z0-9]{1,40})[-:.+/])?(G[A-Z2-7]{55}|r[1-9A-HJ-NP-Za-km-z]{24,34})(?:[-:.+/]([A-Za-z0-9]{1,40}))?$/,
  ],
  "new RegExp(sources.join('|'), 'i')": [
    /provider-key-alpha|(?<![a-z0-9])api\.alpha\.example(?![a-z0-9])|(?<![a-z0-9])alpha(?![a-z0-9])/i,
  ],
}

/** Without the file. */
const textOf = (name: string): string => name.slice(name.indexOf(': ') + 2)

/** By the steps of a match: the machine may be busy. */
const limits = { timeout: null, incubationTimeout: null, attackTimeout: null, seedingTimeout: null }
const statusOf = (source: string, flags: string): string => checkSync(source, flags, limits).status

const unbounded = literals.filter(({ name }) => !(textOf(name) in bounded))
const made = Object.values(becomes).flat()

it.each([...unbounded, ...made.map(({ source, flags }) => ({ name: source, source, flags }))])('$name', ({ source, flags }) => {
  expect(statusOf(source, flags)).toBe('safe')
})

test('every expression that is computed is looked at, and every bound is of an expression that is there', () => {
  expect(computed.map(textOf).toSorted()).toEqual(Object.keys(becomes).toSorted())
  const texts = literals.map(({ name }) => textOf(name))
  expect(Object.keys(bounded).filter((text) => !texts.includes(text))).toEqual([])
})

test('a slow one is noticed', () => {
  expect(statusOf('^([A-Za-z0-9-]{1,64}):[ \\t]*([\\x20-\\x7e]*?)[ \\t]*$', '')).toBe('vulnerable')
})
