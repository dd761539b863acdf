/** The dependencies of the operator's API. */
import type { OpenLedger } from '../adapters/ledger/index.ts'
import type { Config } from '../config/index.ts'

export type OperatorStores = Pick<
  OpenLedger,
  'accounts' | 'audit' | 'ledgerAdmin' | 'overrides' | 'replicaFigures' | 'currencyLists'
>

export interface OperatorParts {
  readonly stores: OperatorStores
  /** The configuration file. */
  readonly file: () => Config
  /** In force: the file with the overrides. */
  readonly inForce: () => Config
  /** Applies the overrides that were just stored. */
  readonly follow: () => Promise<void>
}
