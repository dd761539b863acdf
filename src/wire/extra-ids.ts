/** A provider's own words for memos and tags, in place of those of its form. */
import { type OperationTables, type Table, toColumn } from './table.ts'

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
type FieldNames = Readonly<Record<string, string | undefined>>

export function requestFieldNames({ withdrawal, refund }: ExtraIdNames): FieldNames {
  return { withdrawalExtraId: withdrawal?.ask, refundExtraId: refund?.ask }
}

export function responseFieldNames({ deposit, withdrawal, refund }: ExtraIdNames): FieldNames {
  return { depositExtraId: deposit, withdrawalExtraId: withdrawal?.answer, refundExtraId: refund?.answer }
}

/** No two fields of a table may end up with the same word: the configuration sees to that. */
export function renameExtraIds(tables: OperationTables, names: ExtraIdNames): OperationTables {
  return {
    ...tables,
    request: rename(tables.request, requestFieldNames(names)),
    response: rename(tables.response, responseFieldNames(names)),
  }
}

function rename(table: Table, fieldNames: FieldNames): Table {
  return Object.fromEntries(Object.entries(table).map(([name, entry]) => [fieldNames[toColumn(entry).field] ?? name, entry]))
}
