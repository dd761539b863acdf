/** `docs/keys.md` shows what the commands print: what differs each time is compared by its kind. */
import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { isKey } from '../../src/domain/key.ts'
import { commandsOf } from '../docs/page.ts'
import { Place } from './place.ts'

const page = readFileSync('docs/keys.md', 'utf8')
/** Those of usage are of a ledger in which swaps were made. */
const commands = commandsOf(page).filter(({ typed }) => !typed.startsWith('usage'))
const ids = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
afterEach(() => void vi.useRealTimers())

/** Keys and times differ at each reading, and a line of a table is as wide as its cells. */
function lastingPart(text: string): string {
  return text
    .replace(/sg_live_[0-9A-Za-z]+/g, 'a key')
    .replace(/"hint":"[0-9A-Za-z]{4}"/g, '"hint":"end"')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'a time')
}

it('shows each command with what it prints', async () => {
  using place = new Place()
  const idOf = new Map<string, string>()
  const asHere = (text: string): string => text.replace(ids, (shown) => idOf.get(shown) ?? shown)
  for (const { typed, shown } of commands) {
    const { exitCode, out } = await place.swapgate(...asHere(typed).split(' '))
    vi.advanceTimersByTime(1_000)
    const printed = out.join('\n')
    const known = [...printed.matchAll(ids)].map(([id]) => id)
    for (const [at, [id]] of [...shown.matchAll(ids)].entries()) idOf.set(id, idOf.get(id) ?? (known[at] as string))
    expect([exitCode, lastingPart(printed)], typed).toEqual([0, lastingPart(asHere(shown))])
  }
  expect(commands.map(({ typed }) => typed.split(' ')[1])).toEqual([
    'create',
    'create',
    'list',
    'create',
    'set',
    'rotate',
    'revoke',
  ])
})

it('shows keys that are keys', () => {
  const keys = [...page.matchAll(/sg_live_[0-9A-Za-z]{33}/g)].map(([key]) => key)
  expect([keys.length, keys.filter((key) => !isKey(key))]).toEqual([4, []])
})
