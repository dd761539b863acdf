/** docs/contract.md §18.1: what an owner can see of a swap is written in one place, which makes the row of its change. */
import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

/**
 * Its writes: of a new entry, of a create's result, of a later report; the results that PostgreSQL gets together; and the row of the probe,
 * which is rolled back.
 */
const seam: Readonly<Record<string, number>> = {
  'src/ledger/entries.ts': 3,
  'src/ledger/postgres/at-once.ts': 1,
  'src/ledger/create-probe.ts': 2,
}
/** Of a create without a result, and of who reads a swap next: no owner sees them. */
const hidden = new Set(['polled_at', 'quoting', 'next_check_at', 'check_count', 'candidates', 'unknown_reason', 'quoted'])
/** What a contradicted create has of a response: it is no swap of its owner. */
const ofMismatch = new Set(['provider_id', 'record'])

interface Write {
  readonly text: string
  readonly isSeen: boolean
}

const withoutComments = (code: string): string => code.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, '')

/** Every statement that inserts or changes rows of `transactions`, in SQL or by Kysely. */
function writes(code: string): readonly Write[] {
  const updates = [...code.matchAll(/\bupdate\s+transactions\s+set\s([\s\S]*?)(?=\bwhere\b|`)/gi)].map(([text, set = '']) => {
    const columns = [...set.matchAll(/(?:^|,)\s*(\w+)\s*=/g)].map(([, column = '']) => column)
    const isMismatch = /\bstate\s*=\s*'mismatch'/.test(set)
    const isKnown = (column: string): boolean =>
      hidden.has(column) || (column === 'state' ? !/'done'/.test(set) : isMismatch && ofMismatch.has(column))
    return { text, isSeen: columns.length === 0 || !columns.every(isKnown) }
  })
  const inserts = [...code.matchAll(/\binsert\s+into\s+transactions\b([^`]*)/gi)].map(([text]) => ({
    text,
    isSeen: !/'(?:pending|unknown|mismatch)'/.test(text) || /'done'/.test(text),
  }))
  const built = [
    ...code.matchAll(
      /\b(?:updateTable|insertInto|replaceInto|mergeInto)\((?!\s*'(?!transactions')\w+')[\s\S]*?(?=\.where|\.returning|\.execute)/g,
    ),
  ]
  const byKysely = built.map(([text]) => {
    const [, set] = /^updateTable\('transactions'\)\s*\.set\(\{([\s\S]*?)\}\)/.exec(text) ?? []
    const columns = set === undefined ? [] : [...set.matchAll(/(?:^|,)\s*([\w.]+)/g)].map(([, column = '']) => column)
    return { text, isSeen: columns.length === 0 || !columns.every((column) => hidden.has(column)) }
  })
  // A part of a statement that assigns one more column, and a table that only the running program knows.
  const parts = [...code.matchAll(/sql(?:<\w+>)?`,\s*(\w+)\s*=/g)].map(([text, column = '']) => ({
    text,
    isSeen: !hidden.has(column),
  }))
  const computed = [...code.matchAll(/\b(?:update|insert\s+into|merge\s+into)\s+\$\{[^}]*\}/gi)].map(([text]) => ({
    text,
    isSeen: true,
  }))
  return [...updates, ...inserts, ...byKysely, ...parts, ...computed]
}

const seen = (code: string): readonly string[] =>
  writes(withoutComments(code)).flatMap(({ text, isSeen }) => (isSeen ? [text] : []))

test('what an owner can see of a swap is written by writeEntry and by results that go up together, and nowhere else', () => {
  const files = globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts') && !file.startsWith('src/ledger/schema/'))
  const sources = new Map(files.map((file) => [file, readFileSync(file, 'utf8')]))
  expect(
    [...sources].filter(([file]) => !(file in seam)).flatMap(([file, code]) => seen(code).map((text) => `${file}: ${text}`)),
  ).toEqual([])
  for (const [file, count] of Object.entries(seam)) expect(seen(sources.get(file) ?? ''), file).toHaveLength(count)
  // What is found at all: intents, doubts, checks, mismatches, leases.
  expect([...sources.values()].flatMap((code) => writes(withoutComments(code))).length).toBeGreaterThan(10)
})

test.each([
  "sql`update transactions set status = 'success' where provider_id = @{id}`",
  'sql`\n  UPDATE transactions\n  SET next_check_at = null, attention = @{x}\n  where true`',
  "sql`update transactions set state = 'done' where intent = @{x}`",
  'sql`update transactions set record = @{x} where true`',
  'sql`update transactions set @{columns} where true`',
  "within.updateTable('transactions').set({ settled_at: 5 }).where('provider', '=', x)",
  "within\n  .updateTable('transactions')\n  .set({ ...row })\n  .execute()",
  "within.updateTable('transactions').set('status', x).where('provider', '=', x)",
  'within.updateTable(table).set({ polled_at: 0 }).execute()',
  "within.insertInto('transactions').values(row).execute()",
  "sql`insert into transactions (provider, state) values (@{x}, 'done')`",
  'sql`, deposit = @{x}`',
  'sql`update @{table} set polled_at = 0`',
])('a write beside them is found: %s', (code) => {
  expect(seen(code.replaceAll('@{', '\u0024{'))).toHaveLength(1)
})
