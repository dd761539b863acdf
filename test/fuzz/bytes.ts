/** Bytes that are almost what they should be. */
import * as fc from 'fast-check'
import { anyCharacter } from '../support/any-character.ts'

/** A text with a few cuts, repetitions and foreign bytes at random places. */
export function mutated(text: string): fc.Arbitrary<string> {
  const place = fc.nat({ max: Math.max(0, text.length) })
  const foreign = fc.oneof(
    fc.constantFrom(
      '\0',
      '\r\n',
      '\n',
      ' ',
      '\t',
      '"',
      '\\',
      '\\u0000',
      '\ud800',
      '{',
      '}',
      '[',
      ']',
      ':',
      ',',
      '-',
      '+',
      'e',
      '1e999',
      '0',
      '9'.repeat(70),
    ),
    fc.constantFrom('null', 'true', '[]', '{}', '""', '__proto__', 'é', '😀', '%00', '%', '&', '=', '..', '/', '~'),
    fc.string({ unit: anyCharacter, maxLength: 20 }),
    fc
      .tuple(fc.constantFrom(' ', '0', 'a', '[', '{"a":', '\\', '"', '\t', '%61', '.', '-'), fc.integer({ min: 1, max: 3_000 }))
      .map(([unit, count]) => unit.repeat(count)),
  )
  const change = fc.record({ at: place, length: fc.nat({ max: 20 }), by: foreign })
  return fc
    .array(change, { minLength: 0, maxLength: 4 })
    .map((changes) => changes.reduce((changed, { at, length, by }) => changed.slice(0, at) + by + changed.slice(at + length), text))
}

/** A JSON document whose members may be anything of the wrong sort, missing, or twice. */
export function mutatedJson(document: Readonly<Record<string, unknown>>): fc.Arbitrary<string> {
  const odd = fc.oneof(
    fc.constantFrom<unknown>(null, true, '', ' ', 0, -1, 1e308, '1', [], {}, [[]], 'x'.repeat(5_000), '\u0000', 'wait', 'success'),
    fc.string({ unit: anyCharacter, maxLength: 40 }),
    fc.double(),
    fc.jsonValue({ maxDepth: 3 }),
  )
  const fields = Object.keys(document)
  return fc
    .array(fc.tuple(fc.constantFrom(...fields, '__proto__', 'toString', 'id'), fc.option(odd, { nil: undefined })), {
      maxLength: 3,
    })
    .map((changes) => JSON.stringify({ ...document, ...Object.fromEntries(changes) }))
    .chain((text) => fc.oneof({ arbitrary: fc.constant(text), weight: 3 }, { arbitrary: mutated(text), weight: 1 }))
}
