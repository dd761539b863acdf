// Takes long: it installs the published lists, unless they are there.
/** `npm run assets -- check-published` on the table that comes with swapgate and the lists that `tools/published` pins. */
import { spawnSync } from 'node:child_process'
import { beforeAll, describe, expect, it } from 'vitest'
import { readNetworks, readPublished, readTable } from '../../scripts/published/check.ts'
import { compare, type TableAsset } from '../../scripts/published/compare.ts'
import type { PublishedRow } from '../../scripts/published/lists.ts'

let published: readonly PublishedRow[]
let command: { readonly status: number | null; readonly stdout: string; readonly stderr: string }
beforeAll(() => {
  command = spawnSync(process.execPath, ['scripts/asset-table.ts', 'check-published'], { encoding: 'utf8' })
  published = readPublished()
}, 300_000)

it('each difference has its reason', () => {
  expect(command).toMatchObject({ status: 0, stderr: '' })
  expect(command.stdout).toMatch(/^0 differences without a reason, \d+ with one$/m)
})

describe('a mistake in the table is a difference to the lists', () => {
  /** What differs if the asset of a code is changed. */
  const differencesOf = (code: string, changes: Partial<TableAsset>) => {
    const changed = readTable().map((asset) => (asset.code === code ? { ...asset, ...changes } : asset))
    return compare(changed, readNetworks(), published).filter(({ of }) => of === code)
  }

  it.each<[string, string, Partial<TableAsset>, object]>([
    [
      'bridged USDC instead of Circle’s',
      'USDCPOLYGON',
      { contract: '0x2791Bca1f2de4661ED88A30C99A7a9449Aa84174' },
      { fact: 'ticker', published: 'USDC.e' },
    ],
    [
      'one wrong digit of a contract',
      'USDCERC20',
      { contract: '0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB49' },
      { fact: 'contract' },
    ],
    ['one wrong letter of a mint', 'USDCSOL', { contract: 'EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1w' }, { fact: 'contract' }],
    ['decimals of another network', 'USDTERC20', { decimals: 18 }, { fact: 'decimals', published: '6' }],
    ['decimals of a coin', 'DOGE', { decimals: 18 }, { fact: 'decimals', published: '8' }],
    ['a coin under another name', 'POL', { names: ['MATIC'] }, { fact: 'ticker', published: 'POL' }],
  ])('%s', (_, code, changes, difference) => {
    expect(differencesOf(code, changes)).toContainEqual(expect.objectContaining(difference))
  })
})
