import { hashKey } from '../adapters/crypto.ts'
import { secretBox } from '../adapters/webhook-crypto.ts'
import { type Config, ConfigError, type ConfigFault, faultLines, loadConfigInThread } from '../config/index.ts'
import { follow } from '../core/operations/settings.ts'
import type { ListSource } from '../core/quotes/read-currency-list.ts'
import { tokenText } from '../domain/operator-role.ts'
import type { StoreTrouble } from '../domain/store-trouble.ts'
import { knownForms } from '../forms/index.ts'
import { inspectLedger, isMissing, type LedgerInspection, openLedger } from '../ledger/index.ts'
import { type ComparableConfig, type ConfigChange, changesBetween, comparable, isComparable } from '../process/config-diff.ts'
import { compareTags, type TagReport } from '../process/tags.ts'
import { configWarnings, ledgerWarnings, newConfigWarnings, unclearAssets } from '../process/warnings.ts'
import { messageOf } from './session.ts'
import { refuse, type Terminal } from './terminal.ts'

interface CheckOptions {
  readonly json: boolean
  /** Whether the ledger is opened as the gateway would, and asked whether it takes creates. */
  readonly live: boolean
}

/** Validates a configuration as `start` does, without starting, and prints every fault. Returns 1 if there are faults. */
export async function check(file: string, { json, live }: CheckOptions, terminal: Terminal): Promise<0 | 1> {
  const { config, faults, warnings } = await read(file)
  if (!config) return printFaults(file, faults, json, terminal)
  const ledger = live ? await probeLedger(config) : { faults: [], warnings: [] }
  if (ledger.faults.length > 0) return printFaults(file, ledger.faults, json, terminal)
  const told = [...warnings, ...ledger.warnings]
  if (json) terminal.out(JSON.stringify({ ok: true, file, ...summaryOf(config, told) }))
  else printReport(file, config, told, terminal)
  if (live && !json) terminal.out('the ledger takes creates')
  return 0
}

/** Makes nothing, migrates nothing, and leaves no row. */
async function probeLedger({ ledger: { url, mustExist, maxConnections } }: Config): Promise<TagReport> {
  const fault = (message: string): TagReport => ({ faults: [{ path: 'ledger.url', message }], warnings: [] })
  const troubles: StoreTrouble[] = []
  const onTrouble = (trouble: StoreTrouble): void => void troubles.push(trouble)
  const opened = await openLedger(url, { mustExist, whenMissing: 'refuse', mayMigrate: false, maxConnections, onTrouble }).catch(
    messageOf,
  )
  if (typeof opened === 'string') return fault(opened)
  try {
    const warnings = await opened.warmUp()
    const { refusal, hasPassed } = opened.createProbe
    const why = refusal() ?? troubles.find(({ cause }) => cause === 'standby')
    if (why) return fault(`no create is taken, since ${why.message}`)
    if (!hasPassed()) return fault('no create could be tried: another session holds a table, or the server refuses its rows')
    return { faults: [], warnings: [...opened.warnings, ...warnings] }
  } catch (reason) {
    return fault(messageOf(reason))
  } finally {
    await opened.close()
  }
}

function printFaults(file: string, faults: readonly ConfigFault[], json: boolean, terminal: Terminal): 1 {
  if (json) terminal.out(JSON.stringify({ ok: false, file, faults }))
  else for (const line of faultLines(file, faults)) terminal.err(line)
  return 1
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
    const unclear = await unclearAssets(config, async (source) => rowsOf(source, known))
    const found = [...ledgerWarnings(config, facts ?? {}), ...unclear, ...webhookWarnings(config, known)]
    return { faults, warnings: [...warnings, ...found], config }
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    return { faults: reason.faults, warnings: [] }
  }
}

function rowsOf(
  { provider, url, form }: ListSource,
  known: LedgerInspection | undefined,
): LedgerInspection['currencyLists'][number]['rows'] | undefined {
  return known?.currencyLists.find((list) => list.provider === provider && list.url === url && list.form === form)?.rows
}

/** About the key of webhooks, and the secrets that none of its keys can read. */
function webhookWarnings({ auth, webhooks }: Config, known: LedgerInspection | undefined): readonly string[] {
  const { open } = secretBox(webhooks.key)
  const unreadable = (known?.sealedSecrets ?? []).filter(({ webhook, secret }) => open(secret, webhook) === undefined).length
  return [
    ...(auth.mode === 'managed' && webhooks.key.length === 0 ? ['webhooks.key is not set: no webhook can be added'] : []),
    ...(unreadable > 0
      ? [
          `webhooks.key: ${unreadable === 1 ? '1 secret of a webhook' : `${unreadable} secrets of webhooks`} can be read by none of its keys: nothing is sent there until the key is back, or the secret is rotated`,
        ]
      : []),
  ]
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

// `swapgate check --diff`: what a reload of `file` would change in the file that is in force, or in the running gateway.

/** Returns 1 if a file has faults, a reload would refuse `file`, or the gateway cannot be asked. */
export async function printDiff(
  inForce: string | true,
  file: string,
  { json }: { readonly json: boolean },
  terminal: Terminal,
): Promise<0 | 1> {
  const after = await load(file)
  if ('faults' in after) return printFaults(file, after.faults, json, terminal)
  const before = inForce === true ? undefined : await load(inForce)
  if (before && 'faults' in before) return printFaults(String(inForce), before.faults, json, terminal)
  const { faults, warnings } = await compareByLedger(before, after)
  if (faults.length > 0) return printFaults(file, faults, json, terminal)
  const known = before ? comparable(before, '', hashKey) : await askGateway(after)
  if (typeof known === 'string') return refuse(known, terminal)
  const changes = changesBetween(known, comparable(after, known.salt, hashKey))
  const restart = changes.filter(({ takesEffect }) => takesEffect === 'restart').map(({ key }) => key.split('.')[0])
  const what = {
    inForce: inForce === true ? 'the running gateway' : inForce,
    changes,
    restart: [...new Set(restart)],
    warnings: [...(before ? newConfigWarnings(before, after) : configWarnings(after)), ...warnings],
  }
  if (json) terminal.out(JSON.stringify({ ok: true, file, ...what }))
  else for (const line of diffLines(file, what)) terminal.out(line)
  return 0
}

const askTimeoutMs = 5_000

/** The configuration of the gateway at the admin port of this one; or why there is none. */
async function askGateway({ admin: { host, port, tokens } }: Config): Promise<ComparableConfig | string> {
  const [token] = Object.values(tokens).map(tokenText)
  if (token === undefined)
    return 'check --diff asks the running gateway with a token of admin.tokens, and there is none: name the file in force'
  const name = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host
  const url = `http://${name.includes(':') ? `[${name}]` : name}:${port}/api/configuration`
  try {
    const headers = { authorization: `Bearer ${token}` }
    const response = await fetch(url, { headers, redirect: 'error', signal: AbortSignal.timeout(askTimeoutMs) })
    const body: unknown = response.ok ? await response.json() : undefined
    if (isComparable(body)) return body
    return `the answer at ${url} is no configuration (status ${response.status}): name the file in force`
  } catch {
    return `no gateway answers at ${url}: name the file in force`
  }
}

async function load(file: string): Promise<Config | Pick<ConfigError, 'faults'>> {
  try {
    return await loadConfigInThread(file, knownForms)
  } catch (reason) {
    if (reason instanceof ConfigError) return reason
    throw reason
  }
}

/** What the file means for what is open in the ledger of the one in force, and for its overrides. */
async function compareByLedger(before: Config | undefined, after: Config): Promise<TagReport> {
  const tags = new Set([...(before?.providers ?? []), ...after.providers].map(({ tag }) => tag))
  const known = await inspectLedger((before ?? after).ledger.url, [...tags])
  if (!known) return compareTags(after, [])
  const { faults, warnings } = compareTags(after, known.tags)
  const followed = before && follow(before, known.overrides)
  const told = before && followed ? ledgerWarnings(before, { ...known, overrides: followed }) : []
  const next = ledgerWarnings(after, { ...known, overrides: follow(after, known.overrides, followed) })
  return { faults, warnings: [...warnings, ...next.filter((warning) => !told.includes(warning))] }
}

interface Difference {
  readonly inForce: string
  readonly changes: readonly ConfigChange[]
  readonly warnings: readonly string[]
}

function diffLines(file: string, { inForce, changes, warnings }: Difference): readonly string[] {
  if (changes.length === 0) return [`${file} changes nothing of ${inForce}`]
  const count = changes.length === 1 ? '1 key' : `${changes.length} keys`
  return [
    `${file} changes ${count} of ${inForce}:`,
    ...changes.map(
      (one) => `  ${one.key}: ${changeText(one)}${one.takesEffect === 'restart' ? ' (after a restart)' : ' (at once)'}`,
    ),
    ...warnings.map((warning) => `warning: ${warning}`),
  ]
}

function changeText({ change, before, after, isSecret }: ConfigChange): string {
  if (isSecret || (before === null && after === null)) return change
  return `${valueText(before)} -> ${valueText(after)}`
}

function valueText(value: unknown): string {
  return value === null ? 'none' : JSON.stringify(value)
}
