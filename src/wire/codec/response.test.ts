import { expect, it } from 'vitest'
import { parseJson } from '../parse-json.ts'
import { WireError } from '../wire-error.ts'
import { renameExtraIds } from './extra-ids.ts'
import { each, unused } from './lines.ts'
import { compileResponse } from './response.ts'
import { extension } from './table.ts'

const table = { coin: 'coin', networks: each('network'), mainnet: unused } as const
const statuses = { meanings: new Map(), available: new Set<string>() }
const drift: string[] = []
const context = { statuses: new Map(), drift: (field: string, what: string) => void drift.push(`${field} ${what}`) }
const rowsOf = (json: string, tree = table) => compileResponse(tree, statuses).decodeRows(parseJson(json), context)

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
