/** The configuration in force: the file with the operators' overrides (docs/contract.md §12). */
import type { Config } from '../../config/index.ts'
import type { Followed } from '../../core/operations/follow.ts'
import type { Override } from '../../core/operations/overrides.ts'
import { providerStatus, type StatusPorts, type StatusReport } from '../../core/operations/provider-status.ts'
import { byName, heldBy, keyByName, settingOf, sleeping, withOverrides } from '../../core/operations/settings.ts'

/** Applies the overrides that are valid with this file. */
export function effectiveConfig(file: Config, overrides: readonly Override[]): Config {
  return withOverrides(file, heldBy(file, overrides))
}

/** Every provider by what is in force, if the file is that of the gateways. */
export async function currentStatus(file: Config, ports: StatusPorts): Promise<StatusReport> {
  const stored = await ports.overrides.read()
  const held = heldBy(file, stored)
  const reported = [...held, ...sleeping(file, stored)]
  return await providerStatus(withOverrides(file, held), { ...ports, overrides: { read: async () => reported } })
}

/** Warnings about the overrides in force and asleep, and those that this file ends: one line each. */
export function overrideWarnings(
  file: Config,
  { applied, asleep, ended = [] }: Pick<Followed, 'applied' | 'asleep'> & Partial<Pick<Followed, 'ended'>>,
): readonly string[] {
  const set = ({ key, value, actor, since }: Override): string =>
    `${keyByName(file, key)} is ${JSON.stringify(byName(file, value))}, set by ${actor} at ${new Date(since).toISOString()}`
  const inFile = ({ key }: Override): string => JSON.stringify(byName(file, settingOf(file, key)))
  return [
    ...applied.map((override) => `${set(override)}; the file says ${inFile(override)}`),
    ...asleep.map(
      (override) => `${set(override)}; it has no effect with this file, which has no such provider, and stays until a reset`,
    ),
    ...ended.map((override) => `${set(override)}; this file ends it: it says ${inFile(override)}`),
  ]
}
