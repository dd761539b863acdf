import { type Config, ConfigError, faultLines, loadConfigInThread } from '../config/index.ts'
import { follow } from '../core/operations/settings.ts'
import { knownForms } from '../forms/index.ts'
import { inspectLedger, isMissing } from '../ledger/index.ts'
import { compareTags, type TagReport } from '../process/tags.ts'
import { configWarnings, ledgerWarnings } from '../process/warnings.ts'
import type { Terminal } from './terminal.ts'

/** Validates a configuration as `start` does, without starting, and prints every fault. Returns 1 if there are faults. */
export async function check(file: string, { json }: { readonly json: boolean }, terminal: Terminal): Promise<0 | 1> {
  const { config, faults, warnings } = await read(file)
  if (json) terminal.out(JSON.stringify(config ? { ok: true, file, ...summaryOf(config, warnings) } : { ok: false, file, faults }))
  else if (config) printReport(file, config, warnings, terminal)
  else for (const line of faultLines(file, faults)) terminal.err(line)
  return config ? 0 : 1
}

interface CheckResult extends TagReport {
  readonly config?: Config
}

/** Also compares the configuration with the ledger, if that can be read. */
async function read(file: string): Promise<CheckResult> {
  try {
    const config = await loadConfigInThread(file, knownForms)
    if (config.ledger.mustExist && isMissing(config.ledger.url))
      return { faults: [{ path: 'ledger.mustExist', message: 'is true, and the file of ledger.url does not exist' }], warnings: [] }
    const known = await inspectLedger(
      config.ledger.url,
      config.providers.map(({ tag }) => tag),
    )
    const { faults, warnings } = compareTags(config, known?.tags ?? [])
    if (faults.length > 0) return { faults, warnings }
    const facts = known && { ...known, overrides: follow(config, known.overrides) }
    return { faults, warnings: [...warnings, ...ledgerWarnings(config, facts ?? {})], config }
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    return { faults: reason.faults, warnings: [] }
  }
}

function summaryOf(config: Config, warnings: readonly string[]) {
  const { providers, routing, auth, defaultForm, assets } = config
  return {
    providers: providers.map(({ name, tag, form }) => ({ name, tag, form })),
    routing: routing.providers,
    mode: auth.mode,
    defaultForm,
    coins: assets.coins.length,
    assets: assets.coins.flatMap((coin) => coin.assets).length,
    warnings: [...configWarnings(config), ...warnings],
  }
}

function printReport(file: string, config: Config, found: readonly string[], { out }: Terminal): void {
  const { providers, routing, mode, coins, assets, warnings } = summaryOf(config, found)
  const named = providers.map(({ name, form }) => `${name} (form ${form})`).join(', ')
  out(`${file} is valid: ${coins} coins, ${assets} assets, ${mode} keys`)
  out(`providers: ${named}; routing: ${routing.join(', ')}`)
  for (const warning of warnings) out(`warning: ${warning}`)
}
