/** How `npm run assets -- check-published` compares a table with published lists. */
import { describe, expect, it } from 'vitest'
import { compare, explain, type NetworkWords, type TableAsset } from '../../scripts/published/compare.ts'
import type { PublishedRow } from '../../scripts/published/lists.ts'

const networks = new Map<string, NetworkWords>([
  ['ETH', { chainId: 1, words: ['Ethereum'] }],
  ['BASE', { chainId: 8453, words: ['Base'] }],
  ['TON', { words: ['TON'] }],
])
const usdc: TableAsset = { code: 'USDCERC20', names: ['USDC'], network: 'ETH', decimals: 6, contract: `0x${'Aa'.repeat(20)}` }
const usdcOnBase: TableAsset = { ...usdc, code: 'USDCBASE', network: 'BASE', contract: `0x${'bb'.repeat(20)}` }
const gram: TableAsset = { code: 'GRAM', names: ['GRAM', 'TON'], network: 'TON', decimals: 9 }
const row = (list: string, changes: Partial<PublishedRow> = {}): PublishedRow => ({
  list,
  chainId: 1,
  words: [],
  ticker: 'usdc',
  contract: `0x${'aA'.repeat(20)}`,
  decimals: 6,
  ...changes,
})
const other = `0x${'cc'.repeat(20)}`

describe('a difference has both sides, and who says what', () => {
  it('of the contract', () => {
    const rows = [row('one'), row('two'), row('three', { contract: other })]
    expect(compare([usdc], networks, rows)).toEqual([
      { of: 'USDCERC20', fact: 'contract', table: usdc.contract, agreeing: ['one', 'two'], published: other, lists: ['three'] },
    ])
  })

  it('of the decimals, which is no word about the contract', () => {
    expect(compare([usdc], networks, [row('one'), row('two', { decimals: 18 })])).toEqual([
      { of: 'USDCERC20', fact: 'decimals', table: '6', agreeing: ['one'], published: '18', lists: ['two'] },
    ])
  })

  it('of one list’s two rows about a contract', () => {
    expect(compare([usdc], networks, [row('one'), row('one', { ticker: 'USDC0', decimals: 18 })])).toMatchObject([
      { of: 'USDCERC20', fact: 'decimals', agreeing: ['one'], published: '18', lists: ['one'] },
    ])
  })

  it('of the ticker of a contract', () => {
    expect(compare([usdc], networks, [row('one'), row('two', { ticker: 'USDC0' }), row('three', { ticker: 'USDC0' })])).toEqual([
      { of: 'USDCERC20', fact: 'ticker', table: 'USDC', agreeing: ['one'], published: 'USDC0', lists: ['two', 'three'] },
    ])
  })

  it('of the coin of a chain, unless it is another name of the table', () => {
    const coin = (list: string, ticker: string): PublishedRow => ({ list, words: ['TON'], ticker, decimals: 9 })
    expect(compare([gram], networks, [coin('one', 'Gram'), coin('two', 'TON')])).toEqual([])
    expect(compare([gram], networks, [coin('one', 'Gram'), coin('two', 'TON2')])).toMatchObject([
      { of: 'GRAM', fact: 'ticker', agreeing: ['one'], published: 'TON2', lists: ['two'] },
    ])
  })

  it('of the id of a chain, and of the name of a network', () => {
    const rows = [row('one', { words: ['Ethereum'], chainId: 61 }), row('two', { words: ['Ether Network'] })]
    expect(compare([usdc], networks, rows)).toMatchObject([
      { of: 'ETH', fact: 'chain id', table: '1', published: '61', lists: ['one'] },
      { of: 'ETH', fact: 'network name', published: 'Ether Network', lists: ['two'] },
    ])
  })

  it('of an asset that no list has', () => {
    expect(compare([usdc, usdcOnBase], networks, [row('one')])).toMatchObject([
      { of: 'USDCBASE', fact: 'list', published: 'nothing' },
    ])
  })
})

describe('no difference', () => {
  it('is another token of the same ticker, if the list has the table’s too', () => {
    expect(compare([usdc], networks, [row('one', { contract: other }), row('one')])).toEqual([])
  })

  it('are decimals of an asset that has none', () => {
    const { decimals: _, ...issued } = usdc
    expect(compare([issued], networks, [row('one')])).toEqual([])
  })

  it('is a token or a network that the table lacks', () => {
    expect(
      compare([usdc], networks, [row('one'), row('one', { ticker: 'ZQX', contract: other }), row('two', { chainId: 999 })]),
    ).toEqual([])
  })
})

it('a list that has ids says what most assets of a coin have', () => {
  const id = (chainId: number, ticker: string, contract: string): PublishedRow => ({
    list: 'ids',
    isId: true,
    chainId,
    words: [],
    ticker,
    contract,
  })
  const onTon: TableAsset = { ...usdc, code: 'USDCTON', network: 'TON', contract: 'EQton' }
  const rows = [
    id(1, 'usd-coin', usdc.contract ?? ''),
    id(8453, 'usd-coin', usdcOnBase.contract ?? ''),
    { ...id(0, 'bridged', 'EQton'), words: ['TON'] },
  ]
  expect(compare([usdc, usdcOnBase, onTon], networks, rows)).toMatchObject([
    { of: 'USDCTON', fact: 'ticker', published: 'bridged' },
  ])
  const moved = rows.with(1, id(8453, 'usd-coin', other)).toSpliced(2, 1)
  expect(compare([usdc, usdcOnBase], networks, moved)).toMatchObject([
    { of: 'USDCBASE', fact: 'contract', published: other },
    { of: 'USDCBASE', fact: 'list' },
  ])
})

it('a reason is of one value of one fact, and one that nothing needs any more is told', () => {
  const differences = compare([usdc], networks, [row('one', { decimals: 18 })])
  const [reason, later, gone] = (['18', '8', '6'] as const).map((published) => ({
    of: 'USDCERC20',
    fact: 'decimals' as const,
    published,
  }))
  if (!reason || !later || !gone) throw new Error('three reasons')
  expect(explain(differences, [reason])).toEqual({ unexplained: [], unused: [] })
  expect(explain(differences, [later])).toEqual({ unexplained: differences, unused: [later] })
  expect(explain(differences, [reason, gone])).toEqual({ unexplained: [], unused: [gone] })
})
