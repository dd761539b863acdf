/** A provider's own words for memos and tags, in place of those of its form. */
import type { OperationTables } from './form.ts'
import { type Table, toEntry } from './table.ts'

interface BothWays {
  readonly ask?: string | undefined
  readonly answer?: string | undefined
}

/** What is absent is called as in the form. */
export interface ExtraIdNames {
  readonly deposit?: string | undefined
  readonly withdrawal?: BothWays | undefined
  readonly refund?: BothWays | undefined
}

/** Words by field of the domain. */
type Words = Readonly<Record<string, string | undefined>>

export function askedWords({ withdrawal, refund }: ExtraIdNames): Words {
  return { withdrawalExtraId: withdrawal?.ask, refundExtraId: refund?.ask }
}

export function answeredWords({ deposit, withdrawal, refund }: ExtraIdNames): Words {
  return { depositExtraId: deposit, withdrawalExtraId: withdrawal?.answer, refundExtraId: refund?.answer }
}

/** No two fields of a table may end up with the same word: the configuration sees to that. */
export function renameExtraIds(tables: OperationTables, names: ExtraIdNames): OperationTables {
  return { ...tables, ask: rename(tables.ask, askedWords(names)), answer: rename(tables.answer, answeredWords(names)) }
}

function rename(table: Table, words: Words): Table {
  return Object.fromEntries(Object.entries(table).map(([word, entry]) => [words[toEntry(entry).field] ?? word, entry]))
}
