import { describe, expect, it } from 'vitest'
import { readDocument } from './document.ts'
import { Faults } from './faults.ts'

function read(source: string) {
  const faults = new Faults()
  const tree = readDocument(source, faults)
  return { tree, faults: faults.all.map(({ path, message }) => `${path}${message}`) }
}

const bomb = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x, x]',
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((level) => `a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`),
]

describe('a document', () => {
  it('keeps every scalar as text', () => {
    expect(read('a: 1.10\nb: 0.123456789012345678\nc: 1e-8\nd: 0x10\ne: yes\nf: "007"').tree).toEqual({
      a: '1.10',
      b: '0.123456789012345678',
      c: '1e-8',
      d: '0x10',
      e: 'yes',
      f: '007',
    })
  })

  it('reads an empty value, ~ and null as null, unless quoted', () => {
    expect(read('a:\nb: ~\nc: null\nd: ""\ne: "null"\nf: [~]').tree).toEqual({
      a: null,
      b: null,
      c: null,
      d: '',
      e: 'null',
      f: [null],
    })
  })

  it('keeps a key that is called null', () => {
    expect(read('null: 1').tree).toEqual({ null: '1' })
  })

  it('may begin with a byte order mark', () => {
    expect(read('\uFEFFa: 1').tree).toEqual({ a: '1' })
  })

  it.each([
    ['a bracket that is not closed', 'a: [1, 2', 'line 1 is not YAML: bad indent'],
    ['a quote that is not closed', 'a: "sk_secret', 'line 1 is not YAML: missing char'],
    ['tabs for indentation', 'a:\n\tb: 1', 'line 2 is not YAML: tab as indent'],
    ['a key given twice', 'a: 1\nb: 2\na: 3', 'line 3 is not YAML: duplicate key'],
    ['a second document', 'a: 1\n---\nb: 2', 'line 2 is not YAML: multiple docs'],
    ['a tag', 'a: !secret sk_secret', 'line 1 is not YAML: tag resolve failed'],
    ['an alias', 'a: &x 1\nb: *x', 'line 2: aliases are not supported; please repeat the value'],
    ['an alias without an anchor', 'a: *sk_secret', 'line 1: aliases are not supported; please repeat the value'],
    ['an alias of itself', 'a: &x [*x]', 'line 1: aliases are not supported; please repeat the value'],
    ['an alias bomb', bomb.join('\n'), 'line 2: aliases are not supported; please repeat the value'],
    ['a key that is no text', 'a: 1\n[b, c]: 2', 'line 2: a key must be a text'],
    ['brackets without end', '['.repeat(20_000), 'line 1: more than 200 brackets are open'],
  ])('is rejected for %s, with its line and without its text', (_, source, message) => {
    expect(read(source)).toEqual({ tree: undefined, faults: [message] })
  })
})
