/** docs/contract-operators.md §9: the names of a coin in the asset table, and what is refused. */
import { describe, expect, it } from 'vitest'
import { spellingOf } from '../domain/asset.ts'
import { assetsSchema, checkCoins, toAssetTable } from './asset-table.ts'
import { Faults } from './faults.ts'

type Row = Readonly<Record<string, unknown>>

const networkRow = (network: string, code: string, facts: Row = {}): Row => ({ network, code, ...facts })
const coinRow = (coin: string, networks: readonly Row[], facts: Row = {}): Row => ({ coin, name: coin, ...facts, networks })
const rules = { decimals: '9', address: { format: 'TON' }, memo: { format: 'TON' } }

function read(...rows: readonly Row[]) {
  const coins = assetsSchema.parse(rows)
  const faults = new Faults()
  const warnings = checkCoins(coins, faults)
  return {
    table: toAssetTable(coins),
    warnings,
    faults: faults.found.map(({ names, message }) => `${names.join('.')}: ${message}`),
  }
}

describe('a coin with other names', () => {
  const gram = coinRow('GRAM', [networkRow('TON', 'GRAM', { home: 'true', aliases: ['GRAMCHAIN'] })], { also: ['TON'] })
  const { table, faults } = read(gram)

  it('is found by each of them, in any case, and is one asset', () => {
    const asset = table.byCode('GRAM')
    expect(faults).toEqual([])
    expect([table.byCode('ton'), table.find('ton', 'ton'), table.find('Gram', 'gramchain'), table.coin('TON')?.assets[0]]).toEqual(
      Array.from({ length: 4 }, () => asset),
    )
  })

  it('is spelled as it was asked for', () => {
    const asset = table.byCode('GRAM')
    if (!asset) throw new Error('no asset')
    expect(spellingOf(asset, { code: 'ton' })).toMatchObject({ code: 'TON', coin: 'TON' })
    expect(spellingOf(asset, { coin: 'ton' })).toMatchObject({ code: 'TON', coin: 'TON' })
    expect(spellingOf(asset, { coin: 'gram' })).toMatchObject({ code: 'GRAM', coin: 'GRAM' })
  })

  it('has its codes by each of them', () => {
    const networks = [
      networkRow('ETH', 'USDT0ERC20', { default: 'true' }),
      networkRow('TRX', 'USDT0TRC20'),
      networkRow('X', 'TETHERX'),
    ]
    const { table: renamed } = read(coinRow('USDT0', networks, { also: ['USDT', 'USD.T'] }))
    expect(['USDTERC20', 'usdttrc20', 'USDT0TRC20'].map((code) => renamed.byCode(code)?.network)).toEqual(['ETH', 'TRX', 'TRX'])
    expect(renamed.byCode('USDTX')).toBeUndefined()
    expect(renamed.find('USDT', 'X')?.code).toBe('TETHERX')
  })

  it('that keeps its code has the others beside it', () => {
    const { table: kept } = read(coinRow('GRAM', [networkRow('TON', 'TON')], { also: ['TON'] }))
    expect([kept.byCode('TON')?.coin, kept.byCode('GRAM')?.coin, kept.find('TON', 'TON')?.code]).toEqual(['GRAM', 'GRAM', 'TON'])
  })

  it('does not take the code of another asset', () => {
    const { table: both, faults: none } = read(
      coinRow('POL', [networkRow('POLYGON', 'POL')], { also: ['MATIC'] }),
      coinRow('MATIC', [networkRow('ETH', 'MATIC', { contract: '0x7D1AfA7B718fb893dB30A3aBc0Cfc608AaCfeBB0' })]),
    )
    expect(none).toEqual([])
    expect([both.byCode('MATIC')?.network, both.find('MATIC', 'ETH')?.coin, both.find('MATIC', 'POLYGON')?.coin]).toEqual([
      'ETH',
      'MATIC',
      'POL',
    ])
  })
})

describe('refused', () => {
  const twoCoins = 'is the name of two coins on one network: a coin that was renamed is one coin, with `also: [TON]` at GRAM; take'

  it.each([
    ['a name twice', [coinRow('GRAM', [networkRow('TON', 'GRAM')], { also: ['TON', 'ton'] })], ['0.also.1: is given twice']],
    ['its own name', [coinRow('GRAM', [networkRow('TON', 'GRAM')], { also: ['gram'] })], ['0.also.0: is given twice']],
    [
      'the old name as a coin of its own',
      [coinRow('GRAM', [networkRow('TON', 'GRAM')], { also: ['TON'] }), coinRow('TON', [networkRow('TON', 'TON')])],
      [`1.coin: ${twoCoins} the coin TON out`],
    ],
    [
      'one old name of two coins',
      [
        coinRow('GRAM', [networkRow('TON', 'GRAM')], { also: ['TON'] }),
        coinRow('TONY', [networkRow('TON', 'TONY')], { also: ['TON'] }),
      ],
      [
        '1.also.0: is the name of two coins on one network: a coin that was renamed is one coin, with `also: [TON]` at TONY; take it from GRAM out',
      ],
    ],
    [
      'the new name as a second coin',
      [coinRow('TON', [networkRow('TON', 'TON', { home: 'true', ...rules })]), coinRow('GRAM', [networkRow('TON', 'GRAM', rules)])],
      [
        '1.coin: has no contract on the network of TON: if it is another name of TON, write one coin, `coin: GRAM` with `also: [TON]`, and take TON out; if it is a token, write its `contract`',
      ],
    ],
    [
      'the old name as a second coin',
      [
        coinRow('GRAM', [networkRow('TON', 'GRAM', { home: 'true' })]),
        coinRow('TON', [networkRow('ton', 'TON', { home: 'true' })]),
      ],
      [
        '1.coin: has no contract on the network of GRAM: if it is another name of GRAM, write one coin, `coin: GRAM` with `also: [TON]`, and take TON out; if it is a token, write its `contract`',
      ],
    ],
  ])('is %s', (_, rows, faults) => expect(read(...rows).faults).toEqual(faults))

  const chain = coinRow('BNB', [networkRow('BSC', 'BNB', { home: 'true', ...rules })])
  const token = (coin: string, facts: Row): Row => coinRow(coin, [networkRow('BSC', coin, { ...rules, ...facts })])

  it('may be a token without a contract: that is a warning', () => {
    expect(read(chain, token('CAKE', {}))).toMatchObject({
      faults: [],
      warnings: [
        'assets: CAKE has no contract on the network of BNB: if it is another name of BNB, write one coin, `coin: CAKE` with `also: [BNB]`, and take BNB out; if it is a token, write its `contract`',
      ],
    })
  })

  it('is no token with a contract, none with other decimals, and none of a table that has no contracts', () => {
    const nothing = { faults: [], warnings: [] }
    expect(read(chain, token('CAKE', { contract: '0x0E09FaBB73Bd3Ade0a17ECC321fD13a19e81cE82' }))).toMatchObject(nothing)
    expect(read(chain, token('CAKE', { decimals: '6' }))).toMatchObject(nothing)
    expect(read(chain, token('CAKE', {}), token('TWT', {}))).toMatchObject(nothing)
    const polygon = networkRow('POLYGON', 'POL', { home: 'true' })
    const tokens = coinRow('MATIC', [networkRow('ETH', 'MATIC')])
    expect(read(tokens, coinRow('POL', [polygon, networkRow('ETH', 'POLETH')]))).toMatchObject(nothing)
    expect(read(coinRow('TON', [networkRow('TON', 'TON', { home: 'true' })]), token('GRAM', {}))).toMatchObject(nothing)
  })

  it.each(['2026-13-01', 'soon', '31.12.2026'])('is a change on %s', (on) => {
    const row = coinRow('ICX', [networkRow('ICX', 'ICX', { change: { on, what: 'it stops' } })])
    expect(assetsSchema.safeParse([row]).success).toBe(false)
  })
})
