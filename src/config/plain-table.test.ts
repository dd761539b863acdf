import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from './document.ts'
import { readPlainTable } from './plain-table.ts'

const shipped = readFileSync('config/assets.yaml', 'utf8')
const small = `# A table.

- coin: GRAM
  name: Gram
  also: [ TON ]
  networks:
    - { network: TON, code: GRAM, home: true, decimals: 9, address: { format: TON }, memo: { format: TON } }
- coin: USDC.E
  name: Bridged USDC (1)
  networks:
    - { network: SUI, code: USDCE, contract: 0xdba3::usdc::USDC, memo: none }
    - { network: ETH, code: USDCEETH, aliases: [ ERC20, A ], contract: '0xFF97', change: { on: 2026-12-31, what: 'it stops, a day' } }
`

it('reads the shipped table as the parser of YAML does', () => {
  expect(readPlainTable(shipped)).toEqual(parse(shipped, 10_000).tree)
})

describe('whatever is written otherwise', () => {
  it.each([
    ['a coin without a network', '- coin: BTC\n  name: Bitcoin\n'],
    ['a key twice', '- coin: BTC\n  name: A\n  name: B\n  networks:\n    - { network: BTC, code: BTC }\n'],
    ['a key twice in a line', '- coin: BTC\n  name: A\n  networks:\n    - { network: BTC, network: BTC }\n'],
    ['no text', '- coin: BTC\n  name: null\n  networks:\n    - { network: BTC, code: BTC }\n'],
    ['a coin without a name', '- coin: null\n  networks:\n    - { network: BTC, code: BTC }\n'],
    ...['\u00a0', '\ufeff', '\u2028', '\u3000', '\v', '\f'].map((space): [string, string] => [
      `${JSON.stringify(space)} in the place of a space`,
      `- coin: BTC\n  networks:\n    - {${space}network: BTC, code: BTC, aliases: [${space}A${space}] }\n`,
    ]),
    ['a reference', `- coin: BTC\n  name: A\n  networks:\n    - { network: '$${'{X}'}', code: BTC }\n`],
    ['many brackets', `- coin: BTC\n  name: A\n  networks:\n    - ${'[ '.repeat(50_000)}\n`],
  ])('is for the parser: %s', (_, source) => expect(readPlainTable(source)).toBeUndefined())

  it('is for the parser, or read alike', () => {
    const characters = [...' \t\n\u00a0\ufeff\u2028\u2029\u0085\v\f\r-:,#\'"[]{}&*!|>%@`$~?A1.0\\/é']
    const edit = fc.record({
      at: fc.nat(small.length),
      removed: fc.nat(3),
      added: fc.array(fc.constantFrom(...characters), { maxLength: 3 }).map((added) => added.join('')),
    })
    fc.assert(
      fc.property(fc.array(edit, { minLength: 1, maxLength: 2 }), (edits) => {
        const source = edits.reduce((text, { at, removed, added }) => text.slice(0, at) + added + text.slice(at + removed), small)
        const tree = readPlainTable(source)
        if (tree === undefined) return
        const parsed = parse(source, 10_000)
        expect(parsed.faults).toEqual([])
        expect(tree).toEqual(parsed.tree)
      }),
      { numRuns: 5_000 },
    )
  })
})
