import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { anyCharacter } from '../../test/support/any-character.ts'
import { JsonError, JsonNumber, JsonObject, type JsonValue, oversizedRow, parseJson, parseJsonList, printString } from './json.ts'

/** As `JSON.parse` would have it, where a name may be `__proto__`. */
function plain(value: JsonValue): unknown {
  if (value instanceof JsonNumber) return Number(value.lexeme)
  if (Array.isArray(value)) return value.map(plain)
  if (!(value instanceof JsonObject)) return value
  return Object.fromEntries(value.keys.map((key, at) => [key, plain(value.values[at] as JsonValue)]))
}

function accepts(parse: (text: string) => unknown, text: string): boolean {
  try {
    parse(text)
    return true
  } catch {
    return false
  }
}

/** Letters of all sorts or plain ones, on many lines or on one: the reader has a faster way for the plain ones. */
const wellFormed = fc
  .tuple(fc.constantFrom(anyCharacter, 'grapheme-ascii' as const), fc.constantFrom(0, 1))
  .chain(([stringUnit, indent]) =>
    fc.jsonValue({ maxDepth: 5, stringUnit }).map((value) => JSON.stringify(value, undefined, indent)),
  )

describe('a document', () => {
  it('that is valid reads as JSON.parse reads it', () => {
    const property = fc.property(wellFormed, (text) => {
      expect(plain(parseJson(text))).toEqual(JSON.parse(text))
    })
    fc.assert(property, { numRuns: 500 })
  })

  it('with anything changed in it is refused where JSON.parse refuses it, and nowhere else', () => {
    const piece = fc.constantFrom(
      '',
      '"',
      '\\',
      '{',
      '}',
      '[',
      ']',
      ',',
      ':',
      '0',
      '-',
      '.',
      'e',
      '+',
      't',
      'null',
      '\n',
      '\u0000',
      '\ufeff',
      ' ',
      'x',
    )
    const changed = fc.tuple(wellFormed, fc.nat(), fc.nat({ max: 3 }), piece).map(([text, place, length, added]) => {
      const at = place % (text.length + 1)
      return text.slice(0, at) + added + text.slice(at + length)
    })
    const isOwnRefusal = (text: string): boolean => hasEqualKeys(text) || hasLoneSurrogate(JSON.parse(text))
    const property = fc.property(changed, (text) => {
      if (!accepts(JSON.parse, text)) expect(() => parseJson(text)).toThrow(JsonError)
      else if (!isOwnRefusal(text)) expect(plain(parseJson(text))).toEqual(JSON.parse(text))
    })
    fc.assert(property, { numRuns: 2_000 })
  })

  it.each([
    ['nothing', ''],
    ['a byte order mark', '\ufeff{}'],
    ['a byte order mark at its end', '{}\ufeff'],
    ['two values', '{} {}'],
    ['a trailing comma', '[1,]'],
    ['a trailing comma after a member', '{"a":1,}'],
    ['a name without quotes', '{a:1}'],
    ['single quotes', "{'a':1}"],
    ['a comment', '{}//'],
    ['a no-break space', '\u00a0{}'],
    ['a control character in a string', '"\u0001"'],
    ['a line break in a string', '"a\nb"'],
    ['an unknown escape', '"\\x41"'],
    ['a string without its end', '"abc'],
    ['a string that ends in a backslash', '"abc\\"'],
    ['NaN', 'NaN'],
    ['Infinity', '-Infinity'],
    ['undefined', 'undefined'],
    ['half a word', 'tru'],
    ['a word too long', 'nulll'],
    ['a lone high surrogate', '"\\ud800"'],
    ['a lone low surrogate', '"\\udc00"'],
    ['surrogates in the wrong order', '"\\udc00\\ud800"'],
    ['a lone surrogate that is not escaped', '"\ud800"'],
    ['a lone surrogate in a name', '{"\\ud800":1}'],
    ['a name that comes twice', '{"a":1,"b":2,"a":1}'],
    ['a name that comes twice by an escape', '{"a":1,"\\u0061":1}'],
    ['__proto__ twice', '{"__proto__":1,"__proto__":2}'],
    ['a name twice in an inner object', '[{"a":{"b":1,"b":1}}]'],
  ])('with %s is refused', (_, text) => {
    expect(() => parseJson(text)).toThrow(JsonError)
  })

  it('may name what objects inherit', () => {
    const value = parseJson('{"__proto__":1,"constructor":2}') as JsonObject
    expect(value.keys).toEqual(['__proto__', 'constructor'])
    expect(value.get('__proto__')).toEqual(new JsonNumber('1'))
    expect(value.get('toString')).toBeUndefined()
  })

  it('may be 32 levels deep and no deeper', () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const nested = (depth: number): string => open.repeat(depth) + (open === '[' ? '' : '0') + close.repeat(depth)
      expect(accepts(parseJson, nested(32))).toBe(true)
      expect(() => parseJson(nested(33))).toThrow(JsonError)
      expect(() => parseJson(nested(100_000))).toThrow(JsonError)
    }
  })

  it('may have 256 members in one object and no more', () => {
    const members = (count: number): string => `{${Array.from({ length: count }, (_, at) => `"m${at}":0`).join()}}`
    expect(accepts(parseJson, members(256))).toBe(true)
    expect(() => parseJson(members(257))).toThrow(JsonError)
  })
})

describe('a long list', () => {
  const filler = `"${'x'.repeat(60_000)}"`

  it('reads as a short one, wherever its rows are', async () => {
    const property = fc.asyncProperty(wellFormed, async (text) => {
      const long = `[${filler},${filler},${text}]`
      expect(await parseJsonList(long)).toEqual(parseJson(long))
      const inEnvelope = `{"data":{"rows":${long}},"total":3}`
      expect(await parseJsonList(inEnvelope)).toEqual(parseJson(inEnvelope))
    })
    await fc.assert(property, { numRuns: 50 })
  })

  it.each([
    ['a text', `"${'x'.repeat(65_536)}"`],
    ['a text of escapes', `"${'\\\\'.repeat(65_536)}"`],
    ['a text of quotes and brackets', `"${']\\"}'.repeat(65_536)}"`],
    ['a number', '1'.repeat(65_537)],
    ['a list', `[${'1,'.repeat(65_536)}1]`],
    ['an object', `{"a":{"b":[${filler},${filler}]}}`],
    ['an object that is not JSON', `{"a":[${filler},${filler}${filler}]}`],
    ['an object with spaces', `{"a":1${' '.repeat(65_536)}}`],
  ])('steps over a row that is %s of more than 64 KiB', async (_, row) => {
    for (const around of [(text: string) => text, (text: string) => `{"data":{"rows":${text}},"total":3}`]) {
      const value = await parseJsonList(around(`[{"a":1}, ${row} ,{"b":"\\\\"}]`))
      expect(value).toEqual(await parseJsonList(around('[{"a":1},{},{"b":"\\\\"}]')))
    }
  })

  it('has the one value for rows that were not read', async () => {
    expect(await parseJsonList(`["${'x'.repeat(65_536)}"]`)).toEqual([oversizedRow])
    const [row] = (await parseJsonList(`["${'x'.repeat(65_536)}"]`)) as JsonValue[]
    expect(row).toBe(oversizedRow)
  })

  it.each([
    ['in a row that is too long', `[{"a":"${'x'.repeat(65_536)}"`],
    ['in a text that is too long', `["${'\\"'.repeat(65_536)}`],
    ['after a row that is too long', `[["${'x'.repeat(65_536)}"],`],
    ['by the wrong bracket', `[["${'x'.repeat(65_536)}"]}`],
  ])('that ends %s is refused', async (_, text) => {
    await expect(parseJsonList(text)).rejects.toThrow(JsonError)
  })
})

/** By a reading of the tokens alone: names of each object, in a stack. */
function hasEqualKeys(text: string): boolean {
  const open: Set<string>[] = []
  for (const { 1: name, 2: bracket } of text.matchAll(/("(?:[^"\\]|\\.)*")(?=\s*:)|"(?:[^"\\]|\\.)*"|([{}])/g)) {
    if (bracket === '{') open.push(new Set())
    else if (bracket === '}') open.pop()
    else if (name !== undefined) {
      const key = String(JSON.parse(name))
      if (open.at(-1)?.has(key)) return true
      open.at(-1)?.add(key)
    }
  }
  return false
}

/** `JSON.stringify` writes a lone surrogate, and no other letter, as an escape of these. */
function hasLoneSurrogate(value: unknown): boolean {
  return /(?<!\\)(?:\\\\)*\\ud[89a-f]/.test(JSON.stringify(value))
}

describe('V30: a document of many small values', () => {
  const rowsOf = (count: number): string =>
    `[${Array.from({ length: count }, (_, at) => `{"code":"C${at}","a":0,"b":"","c":null,"d":[],"e":{}}`).join(',')}]`

  it('is read where a list of 10,000 rows has as many', () => {
    expect(parseJson(rowsOf(10_000))).toHaveLength(10_000)
  })

  it.each(['0', '""', '[]', '{}', 'null', '"\\n"'])('is refused before it costs much: %s', (value) => {
    const text = `[${Array.from({ length: 2 ** 21 / (value.length + 1) }, () => value).join(',')}]`
    expect(() => parseJson(text)).toThrow('more than 200000 values')
  })

  it('has no member twice, however many it has', () => {
    const members = Array.from({ length: 200 }, (_, at) => `"m${at}":${at}`)
    expect(parseJson(`{${members.join(',')}}`)).toHaveProperty('keys.length', 200)
    for (const at of [0, 31, 199]) expect(() => parseJson(`{${[...members, `"m${at}":0`].join(',')}}`)).toThrow('duplicate')
  })
})

describe('a number', () => {
  it.each(['0', '-0', '0.123456789012345678', '1e-8', '1.10', '1E+2', '-12.50e-03', '9'.repeat(80)])(
    '%s keeps every character',
    (lexeme) => {
      expect(parseJson(` [ ${lexeme} ] `)).toEqual([new JsonNumber(lexeme)])
    },
  )

  it.each(['01', '-01', '+1', '.5', '1.', '1.e2', '1e', '1e+', '0x10', '1_000', '--1', '-', '1,5', '١'])(
    '%s is not one',
    (text) => {
      expect(() => parseJson(text)).toThrow(JsonError)
      expect(() => parseJson(`{"a":${text}}`)).toThrow(JsonError)
    },
  )
})

it('a string is printed as JSON.stringify prints it, and reads as it was', () => {
  const property = fc.property(fc.string({ unit: anyCharacter, maxLength: 40 }), (text) => {
    expect(printString(text)).toBe(JSON.stringify(text))
    expect(parseJson(printString(text))).toBe(text)
  })
  fc.assert(property, { numRuns: 1_000 })
})

it('a lone surrogate is printed as an escape', () => {
  expect(printString('a\ud800b')).toBe('"a\\ud800b"')
})

it('an error has the position, never the text', () => {
  expect(() => parseJson('{"secret":oops}')).toThrow(/^not JSON at position \d+$/)
  expect(() => parseJson('{"secret":1,"secret":2}')).toThrow(/^duplicate key at position \d+$/)
})
