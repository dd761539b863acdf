/** The schema of a ledger, whatever made it: a description without the order in which its parts were made. */
import { query, type RawRow } from './raw.ts'

interface CatalogTable {
  /** By name: type, `not null`, default. */
  readonly columns: Readonly<Record<string, string>>
  /** Keys, foreign keys and checks. */
  readonly constraints: readonly string[]
  /** By name. */
  readonly indexes: Readonly<Record<string, string>>
  /** Such as a fill factor. */
  readonly settings: readonly string[]
}

/** Tables by name, without those of Kysely and of SQLite itself. */
export type Catalog = Readonly<Record<string, CatalogTable>>

export function catalogOf(url: string): Promise<Catalog> {
  return url.startsWith('sqlite:') ? catalogOfSqlite(url) : catalogOfPostgres(url)
}

async function catalogOfSqlite(url: string): Promise<Catalog> {
  const tables = await query(
    url,
    "SELECT name, sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'",
  )
  const catalog: Record<string, CatalogTable> = {}
  for (const { name: table, sql } of tables.filter(isOfLedger)) {
    const definition = withoutQuotes(sql)
    const columns = await query(url, `SELECT * FROM pragma_table_info('${table}')`)
    const keys = await query(
      url,
      `SELECT list.origin, (SELECT group_concat(name, ',') FROM (SELECT name FROM pragma_index_info(list.name) ORDER BY seqno)) AS columns
      FROM pragma_index_list('${table}') AS list WHERE list.origin <> 'c'`,
    )
    const references = await query(
      url,
      `SELECT group_concat("from", ',') AS columns, "table", group_concat("to", ',') AS keys, on_update, on_delete
      FROM (SELECT * FROM pragma_foreign_key_list('${table}') ORDER BY id, seq) GROUP BY id`,
    )
    const rowKeys = columns.filter(({ pk }) => pk === 1 && columns.every(({ pk: other }) => Number(other) < 2))
    catalog[String(table)] = {
      columns: byName(columns, ({ type, notnull, dflt_value }) => words(type, notnull === 1 && 'not null', dflt_value)),
      constraints: [
        // A key that is the number of the row has no index.
        ...rowKeys.map(({ name }) => `pk (${name})`),
        ...keys.map((key) => `${key.origin} (${key.columns})`),
        ...references.map(
          (each) => `(${each.columns}) references ${each.table} (${each.keys}) ${each.on_update} ${each.on_delete}`,
        ),
        ...checksIn(definition),
      ]
        .filter((text, at, all) => all.indexOf(text) === at)
        .toSorted(),
      indexes: byName(
        await query(url, `SELECT name, sql FROM sqlite_schema WHERE type <> 'table' AND tbl_name = '${table}' AND sql IS NOT NULL`),
        ({ sql: text }) => withoutQuotes(text),
      ),
      settings: definition.match(/\b(?:autoincrement|without rowid|strict)\b/g) ?? [],
    }
  }
  return catalog
}

/** What a constraint makes by itself has no part here: its name is of the time when it was made. */
async function catalogOfPostgres(url: string): Promise<Catalog> {
  const read = (columns: string, from: string, table: string, where = 'true') =>
    query(
      url,
      `SELECT ${columns}, owning.relname AS table FROM ${from} JOIN pg_class AS owning ON owning.oid = ${table}
      WHERE owning.relnamespace = current_schema()::regnamespace AND owning.relkind IN ('r', 'p', 'v', 'm') AND ${where}`,
    )
  const tables = await read(
    'relation.relname AS name, relation.relpersistence, relation.reloptions',
    'pg_class AS relation',
    'relation.oid',
  )
  const columns = await read(
    `attname AS name, format_type(atttypid, atttypmod) AS type, collname, attnotnull, attidentity, attgenerated,
    pg_get_expr(adbin, adrelid) AS value`,
    `pg_attribute LEFT JOIN pg_attrdef ON adrelid = attrelid AND adnum = attnum
    LEFT JOIN pg_collation ON pg_collation.oid = attcollation`,
    'attrelid',
    'attnum > 0 AND NOT attisdropped',
  )
  // Since PostgreSQL 18 NOT NULL is a constraint too.
  const constraints = await read('pg_get_constraintdef(pg_constraint.oid) AS text', 'pg_constraint', 'conrelid', "contype <> 'n'")
  const indexes = await read(
    'indexrelid::regclass AS name, pg_get_indexdef(indexrelid) AS text',
    'pg_index',
    'indrelid',
    "NOT EXISTS (SELECT FROM pg_constraint WHERE conindid = indexrelid AND contype IN ('p', 'u', 'x'))",
  )
  const triggers = await read(
    'tgname AS name, pg_get_triggerdef(pg_trigger.oid) AS text',
    'pg_trigger',
    'tgrelid',
    'NOT tgisinternal',
  )
  const catalog: Record<string, CatalogTable> = {}
  for (const { name: table, relpersistence, reloptions } of tables.filter(isOfLedger)) {
    const ofTable = (rows: readonly RawRow[]) => rows.filter((row) => row.table === table)
    catalog[String(table)] = {
      columns: byName(ofTable(columns), ({ type, collname, attnotnull, attidentity, attgenerated, value }) =>
        words(type, collname, attnotnull === true && 'not null', attidentity, attgenerated, value),
      ),
      constraints: ofTable(constraints)
        .map(({ text }) => String(text))
        .toSorted(),
      indexes: byName(ofTable([...indexes, ...triggers]), ({ text }) => String(text)),
      settings: [String(relpersistence), ...((reloptions ?? []) as string[]).toSorted()],
    }
  }
  return catalog
}

function isOfLedger({ name }: RawRow): boolean {
  return name !== 'kysely_migration' && name !== 'kysely_migration_lock'
}

function byName(rows: readonly RawRow[], textOf: (row: RawRow) => string): Readonly<Record<string, string>> {
  return Object.fromEntries(rows.map((row) => [String(row.name), textOf(row)]))
}

function words(...parts: readonly unknown[]): string {
  return parts.filter((part) => part !== null && part !== undefined && part !== false && part !== '').join(' ')
}

/** A statement in small letters, with one space where space counts. */
function withoutQuotes(statement: unknown): string {
  return String(statement)
    .toLowerCase()
    .replaceAll(/["`]/g, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .replace(' if not exists ', ' ')
}

/** Each `check(…)` of a statement, up to its last bracket. */
function checksIn(statement: string): readonly string[] {
  return statement.split(/\b(?=check\()/).flatMap((part) => {
    if (!part.startsWith('check(')) return []
    let depth = 0
    const end = [...part].findIndex((character) => {
      if (character === '(') depth++
      return character === ')' && --depth === 0
    })
    return [part.slice(0, end + 1)]
  })
}
