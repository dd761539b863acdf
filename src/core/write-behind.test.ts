import { beforeEach, expect, it } from 'vitest'
import { AssetTable } from '../domain/asset.ts'
import type { Status } from '../domain/status.ts'
import type { Transaction } from '../domain/swap.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import { type Recent, recent } from './recent.ts'
import { merge } from './record.ts'
import { SequenceClock } from './sequence.ts'
import { WriteBehind } from './write-behind.ts'

const options = { provider: 'alpha', table: new AssetTable([]), sequences: new SequenceClock(() => 0), observe: () => {} }

let writes: { readonly facts: Facts; readonly end: (isKept?: boolean) => void }[]
let rows: Map<string, Entry>
let looked: Recent
let behind: WriteBehind
let sequence = 0
beforeEach(() => {
  writes = []
  rows = new Map()
  looked = recent(
    {
      find: async (_: string, __: string, id: string) => rows.get(id),
      findAll: async () => [...rows.values()],
      see,
    } as unknown as Ledger,
    'alpha',
  )
  behind = new WriteBehind(looked, options)
})

const see: Ledger['see'] = (owner, provider, facts) => {
  const { promise, resolve, reject } = Promise.withResolvers<Entry>()
  const entry = { ...facts, owner, provider, isCreated: false }
  const end = (isKept = true): void => {
    if (isKept) rows.set(facts.transaction.id, entry)
    if (isKept) resolve(entry)
    else reject(new Error('the disk is full'))
  }
  writes.push({ facts, end })
  return promise
}

async function seen(id: string, status: Status, isWhole: boolean): Promise<boolean> {
  const known = await looked.find('acme', id, 0, undefined)
  const told = { id, status } as Transaction
  const sighting = { told, derived: [], at: 0, isWhole, sequence: ++sequence }
  const merged = merge(known.isWriting ? known.noted : known.stored, sighting, options)
  const isNews = behind.write(known, { owner: 'acme', sighting, merged })
  looked.note(known, { ...merged.facts, owner: 'acme', provider: 'alpha', isCreated: false }, isNews)
  return isNews
}

const settled = () => new Promise((resolve) => setImmediate(resolve))
const written = (): readonly string[] => writes.map(({ facts: { transaction } }) => `${transaction.id} ${transaction.status}`)

it('a list’s rows are written a few at a time, and what a get has seen goes first', async () => {
  for (const id of ['a', 'b', 'c', 'd', 'e', 'f']) expect(await seen(id, 'wait', false)).toBe(true)
  expect(await seen('g', 'success', true)).toBe(true)
  await settled()
  expect(written()).toEqual(['a wait', 'b wait', 'c wait', 'd wait'])
  writes[0]?.end()
  await settled()
  expect(written().slice(4)).toEqual(['g success'])
  for (const { end } of writes) end()
  await settled()
  for (const { end } of writes) end()
  await settled()
  expect(written().slice(5).toSorted()).toEqual(['e wait', 'f wait'])
  expect(await seen('g', 'success', true)).toBe(false)
})

it('of what is seen while it is written the latest follows, once', async () => {
  for (const status of ['wait', 'confirmation', 'exchanging', 'success'] as const) await seen('a', status, true)
  await settled()
  expect(written()).toEqual(['a wait'])
  writes[0]?.end()
  await settled()
  expect(written()).toEqual(['a wait', 'a success'])
  writes[1]?.end()
  await settled()
  expect(rows.get('a')?.transaction.status).toBe('success')
})

it('what could not be kept is kept when it is seen again', async () => {
  await seen('a', 'success', true)
  await settled()
  writes[0]?.end(false)
  await settled()
  expect(await seen('a', 'success', true)).toBe(true)
  await settled()
  expect(written()).toEqual(['a success', 'a success'])
})
