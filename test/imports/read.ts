/** The imports of a file of `src/`, and its code without comments. */
import { posix } from 'node:path'
import { parseSync, Visitor } from 'oxc-parser'

export interface Import {
  /** `domain/amount.ts`, `node:fs`, `npm:zod`; `?` if it is computed. */
  readonly of: string
  readonly isType: boolean
}

interface ParsedFile {
  readonly imports: readonly Import[]
  readonly code: string
}

/** Files by path below `src/`. */
export type Sources = Readonly<Record<string, string>>

export function read(file: string, source: string): ParsedFile {
  const { program, comments, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]?.message}`)
  const imports: Import[] = []
  const add = (specifier: string | undefined, isType: boolean): void => void imports.push({ of: target(file, specifier), isType })
  const addFrom = ({
    source: from,
    ...node
  }: {
    source: { value: string } | null
    importKind?: string
    exportKind?: string
  }): void => {
    if (from) add(from.value, node.importKind === 'type' || node.exportKind === 'type')
  }
  new Visitor({
    ImportDeclaration: addFrom,
    ExportNamedDeclaration: addFrom,
    ExportAllDeclaration: addFrom,
    ImportExpression: ({ source: from }) => add(from.type === 'Literal' ? String(from.value) : undefined, false),
    TSImportType: ({ source: from }) => add(from.value, true),
  }).visit(program)
  const code = comments.reduce((text, { start, end }) => text.slice(0, start) + ' '.repeat(end - start) + text.slice(end), source)
  return { imports, code }
}

function target(file: string, specifier: string | undefined): string {
  if (specifier === undefined) return '?'
  if (specifier.startsWith('.')) return posix.join(posix.dirname(file), specifier)
  return specifier.startsWith('node:') ? specifier : `npm:${specifier}`
}
