/** The configuration in force: the file with the operators' overrides (docs/contract.md §12). */
import type { Config } from '../../config/index.ts'
import type { Override } from '../../core/operations/overrides.ts'
import { providerStatus, type StatusPorts, type StatusReport } from '../../core/operations/provider-status.ts'
import { heldBy, settingOf, withOverrides } from '../../core/operations/settings.ts'

/** Applies the overrides that are valid with this file. */
export function effectiveConfig(file: Config, overrides: readonly Override[]): Config {
  return withOverrides(file, heldBy(file, overrides))
}

/** Every provider by what is in force, if the file is that of the gateways. */
export async function currentStatus(file: Config, ports: StatusPorts): Promise<StatusReport> {
  const overrides = heldBy(file, await ports.overrides.read())
  return await providerStatus(withOverrides(file, overrides), { ...ports, overrides: { read: async () => overrides } })
}

/** Warnings about the overrides in force: one line each. */
export function overrideWarnings(file: Config, overrides: readonly Override[]): readonly string[] {
  return overrides.map(({ key, value, actor, since }) => {
    const [inForce, inFile] = [JSON.stringify(value), JSON.stringify(settingOf(file, key))]
    return `${key} is ${inForce}, set by ${actor} at ${new Date(since).toISOString()}; the file says ${inFile}`
  })
}
