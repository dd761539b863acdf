// Takes long: documents of millions of characters.
import { describe, expect, it } from 'vitest'
import { parse, parseInThread } from './document.ts'

function treeOf(source: string): unknown {
  const parsed = parse(source, 60_000)
  return parsed.faults.length === 0 ? parsed.tree : parsed
}

const bomb = [
  'a0: &a0 [x, x, x, x, x, x, x, x, x, x]',
  ...[1, 2, 3, 4, 5, 6, 7, 8, 9].map((level) => `a${level}: &a${level} [${`*a${level - 1}, `.repeat(10)}]`),
]

const nested = Array.from({ length: 200 }, (_, level) => `${' '.repeat(level)}a:`).join('\n')
const manyKeys = Array.from({ length: 59_999 }, (_, at) => `k${at}: x`).join('\n')

describe('a document', () => {
  it('keeps every scalar as text', () => {
    expect(treeOf('a: 1.10\nb: 0.123456789012345678\nc: 1e-8\nd: 0x10\ne: yes\nf: "007"')).toEqual({
      a: '1.10',
      b: '0.123456789012345678',
      c: '1e-8',
      d: '0x10',
      e: 'yes',
      f: '007',
    })
  })

  it('reads an empty value, ~ and null as null, unless quoted', () => {
    expect(treeOf('a:\nb: ~\nc: null\nd: ""\ne: "null"\nf: [~]')).toEqual({
      a: null,
      b: null,
      c: null,
      d: '',
      e: 'null',
      f: [null],
    })
  })

  it('keeps a key that is called null', () => {
    expect(treeOf('null: 1')).toEqual({ null: '1' })
  })

  it('may begin with a byte order mark', () => {
    expect(treeOf('\uFEFFa: 1')).toEqual({ a: '1' })
  })

  it.each([
    ['a bracket that is not closed', 'a: [1, 2', '1: is not YAML: bad indent'],
    ['a quote that is not closed', 'a: "sk_secret', '1: is not YAML: missing char'],
    ['tabs for indentation', 'a:\n\tb: 1', '2: is not YAML: tab as indent'],
    ['a key given twice', 'a: 1\nb: 2\na: 3', '3: is not YAML: duplicate key'],
    ['a second document', 'a: 1\n---\nb: 2', '2: is not YAML: multiple docs'],
    ['a tag', 'a: !secret sk_secret', '1: is not YAML: tag resolve failed'],
    ['an alias', 'a: &x 1\nb: *x', '2: aliases are not supported; please repeat the value'],
    ['an alias without an anchor', 'a: *sk_secret', '1: aliases are not supported; please repeat the value'],
    ['an alias of itself', 'a: &x [*x]', '1: aliases are not supported; please repeat the value'],
    ['an alias bomb', bomb.join('\n'), '2: aliases are not supported; please repeat the value'],
    ['a key that is no text', 'a: 1\n[b, c]: 2', '2: a key must be a text'],
    ['brackets without end', '['.repeat(20_000), '1: more than 200 brackets are open'],
    ['dashes without end', `${'- '.repeat(5_000)}x`, '1: is not YAML: resource exhaustion'],
    ['many levels of keys', nested, '51: lists and keys are nested too deeply'],
    ['many levels of lists', `${'- '.repeat(200)}x`, '1: lists and keys are nested too deeply'],
    ['many tags', '!!binary '.repeat(2_000), '1: is not YAML: multiple tags'],
    ['too many keys', `${manyKeys}\na: x\nb: x`, '1: there are more than 60000 entries'],
    ['its size', 'x'.repeat(1_000_001), 'is larger than 1000000 bytes'],
    ['many entries', '- a\n'.repeat(200_000), 'has more than 150000 words and entries'],
    ['many entries in brackets', `[${'a,'.repeat(200_000)}]`, 'has more than 150000 words and entries'],
    ['many texts in a row', '"a" '.repeat(200_000), 'has more than 150000 words and entries'],
    ['one of many keys given twice', `${manyKeys}\nk7: x`, '60000: is not YAML: duplicate key'],
  ])('is rejected for %s, with its line and without its text', (_, source, message) => {
    const [fault] = parse(source, 60_000).faults
    expect(fault?.line === undefined ? fault?.message : `${fault.line}: ${fault.message}`).toBe(message)
  })

  it('has all its faults with their places, and what can be read without them', () => {
    const source = 'a: *x\nb: { c: 1, c: 2, d: 3 }\n[e]: f\n'
    expect(parse(source, 10, [['b', 'd'], ['b', 'other'], ['other']])).toEqual({
      tree: { a: null, b: { c: '2', d: '3' } },
      faults: [
        { path: [], line: 3, message: 'a key must be a text' },
        { path: ['a'], line: 1, message: 'aliases are not supported; please repeat the value' },
        { path: ['b', 'c'], line: 2, message: 'is not YAML: duplicate key' },
      ],
      lines: [2, 2, undefined],
    })
  })

  it.each([
    [
      'keys',
      'a: 1\nb: [1, 2\nc:\n  d: 3\ne: "4\nf: 5\na: 6\n',
      { a: '6', c: { d: '3' }, f: '5' },
      ['2 b bad indent', '5 e missing char', '7 a duplicate key'],
      ['c', 'd'],
      4,
    ],
    [
      'items',
      '# list\n- { a: 1 }\n- { a: 2\n- a: 3\n  a: 4\n',
      [{ a: '1' }, null, { a: '4' }],
      ['3 1 bad indent', '5 2.a duplicate key'],
      ['2', 'a'],
      5,
    ],
  ] as const)('is read by its outermost %s where it is not YAML, with one error of each', (_, source, tree, faults, path, line) => {
    const parsed = parse(source, 10, [path])
    expect(parsed.tree).toEqual(tree)
    expect(
      parsed.faults.map(({ path, line, message }) => `${line} ${path.join('.')} ${message.slice('is not YAML: '.length)}`),
    ).toEqual(faults)
    expect(parsed.lines).toEqual([line])
  })

  it('is the same in a thread of its own', async () => {
    expect(await parseInThread('a: [1.10, ~]', 2)).toEqual({ tree: { a: ['1.10', null] }, faults: [], lines: [] })
    for (const source of ['a: 1\na: 2', 'a: 1\nb: [\nc: 2', `${'- '.repeat(5_000)}x`])
      expect(await parseInThread(source, 2, [['a'], ['c', 'd']])).toEqual(parse(source, 2, [['a'], ['c', 'd']]))
  })
})
