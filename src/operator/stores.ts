/** What the operator's API works with. */
import type { OpenLedger } from '../adapters/ledger/index.ts'
import type { Config } from '../config/index.ts'

export type OperatorStores = Pick<
  OpenLedger,
  'accounts' | 'audit' | 'ledgerAdmin' | 'overrides' | 'replicaFigures' | 'currencyLists'
>

export interface OperatorParts {
  readonly stores: OperatorStores
  /** What the configuration file says. */
  readonly file: () => Config
  /** What is in force: the file with its overrides. */
  readonly inForce: () => Config
  /** Takes up what was overridden just now. */
  readonly follow: () => Promise<void>
}
