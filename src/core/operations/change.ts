/** Changes of overrides by commands and the operator's API (docs/contract.md §12). */
import type { LedgerAdmin } from '../ledger-admin.ts'
import { needsForce } from './consequences.ts'
import type { Override, OverrideChange, OverrideKey, OverrideStore } from './overrides.ts'
import { byName, heldBy, keyByName, type RoutingSettings, settingOf, withOverrides } from './settings.ts'

export interface FileSettings extends RoutingSettings {
  readonly providers: readonly (RoutingSettings['providers'][number] & { readonly account: string })[]
}

export interface OperationPorts {
  /** The settings of the configuration file. */
  readonly file: FileSettings
  readonly overrides: OverrideStore
  readonly ledgerAdmin: Pick<LedgerAdmin, 'openCounts'>
}

export interface ChangeOptions {
  /** Applies the change even if it leaves no provider for new swaps, or open transactions unread. */
  readonly force: boolean
  /** The operator, for the audit log. */
  readonly actor: string
}

/** `unknown`: there is no such provider. `invalid`: the value is not valid in a configuration. */
export interface Refusal {
  readonly outcome: 'unknown' | 'invalid' | 'needsForce'
  readonly message: string
}

export type ChangeResult = { readonly outcome: 'done' } | Refusal

/** A value for each key, by tags; undefined: the file's value. */
export type Values = ReadonlyMap<OverrideKey, unknown>

const maxAttempts = 20

/**
 * Applies the values to the current overrides. If another change is written meanwhile, the decision is made again.
 * `resumed`: names of providers by their tags; their suspensions of assets end with it.
 */
export async function changeOverrides(
  ports: OperationPorts,
  values: Values,
  options: ChangeOptions,
  resumed?: ReadonlyMap<string, string>,
): Promise<ChangeResult> {
  const { file, overrides } = ports
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const known = await overrides.read()
    const before = withOverrides(file, heldBy(file, known))
    const settings = withOverrides(file, heldBy(file, changed(file, known, values)))
    const objection = options.force ? undefined : await needsForce(ports, before, settings, values)
    if (objection !== undefined) return { outcome: 'needsForce', message: objection }
    const changes = [...values].map(
      ([key, value]): OverrideChange => ({
        key,
        value,
        fileValue: settingOf(file, key),
        shown: {
          key: keyByName(file, key),
          before: byName(file, settingOf(before, key)),
          after: byName(file, value === undefined ? settingOf(file, key) : value),
        },
      }),
    )
    if (await overrides.change(changes, options.actor, known, resumed)) return { outcome: 'done' }
  }
  throw new Error('others keep changing the same; please try again')
}

function changed(file: RoutingSettings, known: readonly Override[], values: Values): readonly Override[] {
  const kept = known.filter(({ key }) => !values.has(key))
  const made = [...values].filter(([, value]) => value !== undefined)
  const facts = { actor: '', since: 0 }
  return [...kept, ...made.map(([key, value]) => ({ ...facts, key, value, fileValue: settingOf(file, key) }))]
}
