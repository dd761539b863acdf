/** The configuration in force: the file with the operators' overrides (docs/contract.md §12). */
import type { Config } from '../../config/index.ts'
import { providerStatus, type StatusPorts, type StatusReport } from '../../core/operations/provider-status.ts'
import type { Override } from '../../core/operations/settings.ts'
import { heldBy, sleeping, withOverrides } from '../../core/operations/settings.ts'

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
