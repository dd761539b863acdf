/** The dependencies of the operator's API. */

import type { Config } from '../config/index.ts'
import type { OperatorActions } from '../core/actions/by-operator.ts'
import { instrumented } from '../core/instrumented-ledger.ts'
import type { HasPlainIds } from '../core/operations/secret-ids.ts'
import type { OperatorToken } from '../domain/operator-role.ts'
import type { OpenLedger } from '../ledger/index.ts'
import type { RedisState } from '../process/limit-stores.ts'
import type { StartSettings } from '../process/start-settings.ts'

export type OperatorStores = Pick<
  OpenLedger,
  | 'accounts'
  | 'audit'
  | 'ledger'
  | 'ledgerAdmin'
  | 'overrides'
  | 'suspensions'
  | 'replicaFigures'
  | 'currencyLists'
  | 'restores'
  | 'webhooks'
  | 'usage'
>

export interface OperatorParts {
  readonly stores: OperatorStores
  /** Of operators, as they are valid now. */
  readonly tokens: () => Readonly<Record<string, OperatorToken>>
  /** Whether every provider of the file is the sandbox of this process. */
  readonly isSandboxAlone: () => boolean
  /** Where clients are served; undefined while the process starts. */
  readonly publicUrl: () => string | undefined
  /** The configuration file. */
  readonly file: () => Config
  /** In force: the file with the overrides. */
  readonly inForce: () => Config
  /** What the process was started with. */
  readonly started: StartSettings
  /** As this process sees Redis; undefined if it is not configured. */
  readonly redis: () => RedisState | undefined
  /** On the swaps of clients. */
  readonly actions: () => OperatorActions
  /** For whom ids of which a part moves money are shortened. */
  readonly hasPlainIds: HasPlainIds
  /** Applies what an operator just stored. */
  readonly follow: () => Promise<void>
}

/** The same stores: what the ledger cannot do now is a `Fault` (503), and no internal error. */
export function withLedgerFaults(stores: OperatorStores): OperatorStores {
  const withFaults = <Port extends object>(port: Port): Port => instrumented(port, () => undefined)
  return {
    accounts: withFaults(stores.accounts),
    audit: withFaults(stores.audit),
    ledger: withFaults(stores.ledger),
    ledgerAdmin: withFaults(stores.ledgerAdmin),
    overrides: withFaults(stores.overrides),
    suspensions: withFaults(stores.suspensions),
    replicaFigures: withFaults(stores.replicaFigures),
    currencyLists: withFaults(stores.currencyLists),
    restores: withFaults(stores.restores),
    webhooks: withFaults(stores.webhooks),
    usage: withFaults(stores.usage),
  }
}
