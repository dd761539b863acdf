/**
 * Which overrides a replica goes by. One holds while the file says for its key what it said when it was made; a later change of the
 * file ends it. Replicas may have different files while a deployment goes on: no clock decides, but what this replica met first.
 */
import type { Override, StoredOverride } from './overrides.ts'
import { areSameSetting, isApplicable, type RoutingSettings, settingOf } from './settings.ts'

export interface Followed<Settings extends RoutingSettings = RoutingSettings> {
  readonly file: Settings
  readonly applied: readonly Override[]
  /** What a change of this file has ended and the ledger still has as not ended. */
  readonly ended: readonly Override[]
  /** What had ended before, and is older than this file though it says the same again. */
  readonly forgotten: readonly Override[]
}

/** `file` is what was read last, and `stored` what the ledger has now. `before`: undefined at a start. */
export function follow<Settings extends RoutingSettings>(
  file: Settings,
  stored: readonly StoredOverride[],
  before?: Followed,
): Followed<Settings> {
  const [applied, ended, forgotten]: [Override[], Override[], Override[]] = [[], [], []]
  for (const { isEnded, ...override } of stored) {
    const isHeld = areSameSetting(settingOf(file, override.key), override.fileValue)
    if (!isEnded && has(before?.ended, override)) ended.push(override)
    else if (isNewFor(file, override, before)) {
      if (isEnded && isHeld) forgotten.push(override)
      if (isEnded) continue
      if (isHeld && isApplicable(file, override)) applied.push(override)
      else ended.push(override)
    } else if (isEnded ? isHeld && has(before?.applied, override) : isApplicable(file, override)) applied.push(override)
  }
  return { file, applied, ended, forgotten }
}

/** Whether the file says something else for its key than the one before, or names other providers. */
function isNewFor(file: RoutingSettings, override: Override, before: Followed | undefined): boolean {
  if (!before) return true
  if (!areSameSetting(settingOf(before.file, override.key), settingOf(file, override.key))) return true
  return isApplicable(before.file, override) && !isApplicable(file, override)
}

function has(overrides: readonly Override[] = [], override: Override): boolean {
  return overrides.some((other) => areSameOverride(other, override))
}

/** Whether both are the same one, and not one that took its place. */
export function areSameOverride(one: Override, other: Override): boolean {
  const isSameRow = one.key === other.key && one.since === other.since && one.actor === other.actor
  return isSameRow && areSameSetting(one.value, other.value)
}
