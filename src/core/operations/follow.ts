/**
 * Decides which overrides a replica applies. One that takes new swaps away from a provider stays until an operator resets it, and
 * sleeps while the file lacks the provider. Any other is valid while the file has the value that it had when the override was
 * made; a later change of the file ends it. During a deployment replicas may have different files: no clock decides, but the order
 * in which this replica read them.
 */
import type { Override, StoredOverride } from './overrides.ts'
import { areSameSetting, isApplicable, type RoutingSettings, settingOf, takesAway } from './settings.ts'

export interface Followed<Settings extends RoutingSettings = RoutingSettings> {
  readonly file: Settings
  readonly applied: readonly Override[]
  /** The file neither ends nor applies them. */
  readonly asleep: readonly Override[]
  /** Ended by a change of this file, but not marked as ended in the ledger yet. */
  readonly ended: readonly Override[]
  /** Ended earlier: the file has the old value again, but the override does not return. */
  readonly forgotten: readonly Override[]
}

/** `file`: the file read last. `stored`: the overrides in the ledger now. `before`: the previous result; undefined at the start. */
export function follow<Settings extends RoutingSettings>(
  file: Settings,
  stored: readonly StoredOverride[],
  before?: Followed,
): Followed<Settings> {
  const [applied, asleep, ended, forgotten]: [Override[], Override[], Override[], Override[]] = [[], [], [], []]
  for (const { isEnded, ...override } of stored) {
    const isHeld = areSameSetting(settingOf(file, override.key), override.fileValue)
    if (!isEnded && takesAway(override)) (isApplicable(file, override) ? applied : asleep).push(override)
    else if (!isEnded && has(before?.ended, override)) ended.push(override)
    else if (isNewFor(file, override, before)) {
      if (isEnded && isHeld) forgotten.push(override)
      if (isEnded) continue
      if (isHeld && isApplicable(file, override)) applied.push(override)
      else ended.push(override)
    } else if (isEnded ? isHeld && has(before?.applied, override) : isApplicable(file, override)) applied.push(override)
  }
  return { file, applied, asleep, ended, forgotten }
}

/** Whether the file has another value for the override's key than the previous one, or other providers. */
function isNewFor(file: RoutingSettings, override: Override, before: Followed | undefined): boolean {
  if (!before) return true
  if (!areSameSetting(settingOf(before.file, override.key), settingOf(file, override.key))) return true
  return isApplicable(before.file, override) && !isApplicable(file, override)
}

function has(overrides: readonly Override[] = [], override: Override): boolean {
  return overrides.some((other) => areSameOverride(other, override))
}

/** Whether both are the same override, not one and its replacement. */
export function areSameOverride(one: Override, other: Override): boolean {
  const isSameRow = one.key === other.key && one.since === other.since && one.actor === other.actor
  return isSameRow && areSameSetting(one.value, other.value)
}
