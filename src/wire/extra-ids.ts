/** A provider's own names for memos and tags, in place of those of its form. */
import { type RequestTree, type ResponseTree, toColumn } from './table.ts'

interface BothWays {
  readonly request?: string | undefined
  readonly response?: string | undefined
}

/** Absent names are those of the form. */
export interface ExtraIdNames {
  readonly deposit?: string | undefined
  readonly withdrawal?: BothWays | undefined
  readonly refund?: BothWays | undefined
}

/** Names by field of the domain. */
type FieldNames = Readonly<Record<string, string | undefined>>

export function requestFieldNames({ withdrawal, refund }: ExtraIdNames): FieldNames {
  return { withdrawalExtraId: withdrawal?.request, refundExtraId: refund?.request }
}

export function responseFieldNames({ deposit, withdrawal, refund }: ExtraIdNames): FieldNames {
  return { depositExtraId: deposit, withdrawalExtraId: withdrawal?.response, refundExtraId: refund?.response }
}

interface TablesOf {
  readonly request: RequestTree
  readonly response: ResponseTree
}

/** No two fields of a table may get the same name: the configuration checks that. */
export function renameExtraIds<Tables extends TablesOf>(tables: Tables, names: ExtraIdNames): Tables {
  return {
    ...tables,
    request: rename(tables.request, requestFieldNames(names)),
    response: rename(tables.response, responseFieldNames(names)),
  }
}

function rename<Tree extends RequestTree | ResponseTree>(tree: Tree, fieldNames: FieldNames): Tree {
  const lines = Object.entries(tree).map(([name, line]) => {
    if (typeof line === 'string' || 'field' in line) return [fieldNames[toColumn(line).field] ?? name, line]
    if ('inside' in line) return [name, { inside: rename(line.inside, fieldNames) }]
    if ('first' in line) return [name, { first: rename(line.first, fieldNames) }]
    return [name, 'each' in line ? { ...line, each: rename(line.each, fieldNames) } : line]
  })
  return Object.fromEntries(lines)
}
