/** The steps of the ledger's schema since schema 1. A released step never changes. */
import type { ColumnTypes } from './first-schema.ts'

export interface Step {
  /** The schema that it belongs to, from 2 on. */
  readonly schema: number
  /**
   * `expand`: tables, columns that are nullable or have a default, settings: what the version of the schema before does not notice.
   * `contract`: removes what no version of the schema before uses.
   */
  readonly kind: 'expand' | 'contract'
  /** They hold the locks of their tables only for a moment: no rows are filled, and a table that has rows gets no index. */
  readonly statements: (types: ColumnTypes) => readonly string[]
}

/** By their names, in their order. The ledger has their names, schemas and kinds. */
export const steps: Record<string, Step> = {}

/** Of this version. It runs on ledgers of the schema before and of the next one. */
export function schemaNumber(): number {
  return Math.max(1, ...Object.values(steps).map(({ schema }) => schema))
}
