import { inspectTags } from '../adapters/ledger.ts'
import { type Config, ConfigError, type ConfigFault, loadConfig } from '../config.ts'
import { forms } from '../forms/index.ts'
import { noticesOf } from '../process/notices.ts'
import { compareTags, type TagReport } from '../process/tags.ts'
import type { Terminal } from './terminal.ts'

/** Says of a configuration what `start` would, without starting. 1 where it has faults. */
export async function check(file: string, { json }: { readonly json: boolean }, terminal: Terminal): Promise<0 | 1> {
  const { config, faults, notices } = await read(file)
  if (json) terminal.out(JSON.stringify(config ? { ok: true, file, ...factsOf(config, notices) } : { ok: false, file, faults }))
  else if (config) tell(file, config, notices, terminal)
  else tellFaults(file, faults, terminal)
  return config ? 0 : 1
}

/** A line for the file and a line for each fault. */
export function tellFaults(file: string, faults: readonly ConfigFault[], { err }: Terminal): void {
  err(`swapgate: ${file} has ${faults.length === 1 ? 'a fault' : `${faults.length} faults`}:`)
  for (const fault of faults) err(`  ${textOf(fault)}`)
}

export function textOf({ path, message }: ConfigFault): string {
  return path === '' ? message : `${path}: ${message}`
}

interface Reading extends TagReport {
  readonly config?: Config
}

/** The ledger is asked too, where it can be read. */
async function read(file: string): Promise<Reading> {
  try {
    const config = loadConfig(file, forms)
    const records = await inspectTags(
      config.ledger.url,
      config.providers.map(({ tag }) => tag),
    )
    const report = compareTags(config, records ?? [])
    return report.faults.length > 0 ? report : { ...report, config }
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    return { faults: reason.faults, notices: [] }
  }
}

function factsOf(config: Config, notices: readonly string[]) {
  const { providers, routing, auth, defaultForm, assets } = config
  return {
    providers: providers.map(({ name, tag, form }) => ({ name, tag, form })),
    routing: routing.providers,
    mode: auth.mode,
    defaultForm,
    coins: assets.coins.length,
    assets: assets.coins.flatMap((coin) => coin.assets).length,
    notices: [...noticesOf(config), ...notices],
  }
}

function tell(file: string, config: Config, ledgerNotices: readonly string[], { out }: Terminal): void {
  const { providers, routing, mode, coins, assets, notices } = factsOf(config, ledgerNotices)
  const named = providers.map(({ name, form }) => `${name} (form ${form})`).join(', ')
  out(`${file} is whole: ${coins} coins, ${assets} assets, ${mode} keys`)
  out(`providers: ${named}; ${routing.join(', ')} answers`)
  for (const notice of notices) out(`notice: ${notice}`)
}
