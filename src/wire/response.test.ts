import { expect, it } from 'vitest'
import { renameExtraIds } from './extra-ids.ts'
import { parseJson } from './json.ts'
import { compileResponse } from './response.ts'
import { each, extension, optional, unused } from './table.ts'
import { WireError } from './wire-error.ts'

const table = { coin: 'coin', networks: each('network'), mainnet: unused } as const
const statuses = { meanings: new Map(), available: new Set<string>() }
const drift: string[] = []
const context = { statuses: new Map(), drift: (field: string, what: string) => void drift.push(`${field} ${what}`) }
const rowsOf = (json: string, tree = table) =>
  compileResponse(tree, statuses)
    .decodeRows(parseJson(json), context)
    .map(({ fields }) => fields)

it('each text of a list is a row of its own, with what stands beside the list', () => {
  const rows = rowsOf('{ "networks": ["tron", "ethereum"], "coin": "USDT", "mainnet": "tron" }')
  expect(rows).toEqual([
    { coin: 'USDT', network: 'tron' },
    { coin: 'USDT', network: 'ethereum' },
  ])
  expect(rowsOf('{ "networks": [], "coin": "USDT" }')).toEqual([])
  expect(drift).toEqual([])
})

it.each(['[1]', '[null]', '[{"network": "tron"}]', '"tron"', 'null', '{}'])('%s is no list of texts', (list) => {
  expect(() => rowsOf(`{ "networks": ${list}, "coin": "USDT" }`)).toThrow(WireError)
})

it('a list of texts stays one where memos have other names', () => {
  const tables = { request: {}, response: { ...table, tag: extension('depositExtraId') } }
  const { response } = renameExtraIds(tables, { deposit: 'memo' })
  expect(rowsOf('{ "networks": ["ripple"], "coin": "XRP", "memo": "7" }', response as never)).toEqual([
    { coin: 'XRP', network: 'ripple', depositExtraId: '7' },
  ])
})

/** Every order of every subset. */
function orders<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  return [[], ...items.flatMap((item, at) => orders(items.toSpliced(at, 1)).map((rest) => [item, ...rest]))]
}

it('members are found in every order, whichever are left out, and an unknown one is reported once', () => {
  const lines = { coin: optional('coin'), net: optional('network'), memo: optional('depositExtraId'), name: optional('id') }
  const values = { coin: 'XRP', net: 'ripple', memo: '7', name: 'x1', other: '1' }
  for (const names of orders(Object.keys(values) as (keyof typeof values)[])) {
    drift.length = 0
    const json = JSON.stringify(Object.fromEntries(names.map((name) => [name, values[name]])))
    const has = <Value>(name: keyof typeof values, value: Value): Value | undefined => (names.includes(name) ? value : undefined)
    expect(rowsOf(json, lines as never), json).toEqual([
      { coin: has('coin', 'XRP'), network: has('net', 'ripple'), depositExtraId: has('memo', '7'), id: has('name', 'x1') },
    ])
    expect(drift, json).toEqual(names.includes('other') ? ['_other unknownField'] : [])
  }
})
