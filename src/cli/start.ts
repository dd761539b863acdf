import { type Config, ConfigError, loadConfig } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { type Running, start as startProcess } from '../main.ts'
import { configWarnings } from '../process/configuration/config-warnings.ts'
import { type Signatures, signaturesOf, watchFiles } from '../process/configuration/file-watcher.ts'
import { needsRestart } from '../process/configuration/restart-required.ts'
import { untilShutdownSignal } from '../process/shutdown-signal.ts'
import { version } from '../process/version.ts'
import { formatFault, printFaults } from './check.ts'
import { fileWarnings } from './option.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until SIGTERM or SIGINT. Returns 1 if it did not start or did not stop cleanly. */
export async function start(file: string, terminal: Terminal): Promise<0 | 1> {
  let hangUp = (): void => {}
  let fail = (message: string, reason: unknown): void =>
    terminal.err(`swapgate: ${message}: ${reason instanceof Error ? reason.stack : String(reason)}`)
  const exitSignal = untilShutdownSignal(
    (message, reason) => fail(message, reason),
    () => hangUp(),
  )
  let running: Running
  let stopWatching: () => void
  try {
    const loaded = load(file)
    running = await startProcess(loaded.config)
    fail = running.logError
    printStart(file, loaded.config, running, terminal)
    const reloading = reload(file, loaded, running, terminal)
    hangUp = reloading.reload
    stopWatching = reloading.stop
  } catch (reason) {
    if (reason instanceof ConfigError) printFaults(file, reason.faults, terminal)
    else terminal.err(`swapgate: ${reason instanceof Error ? reason.message : String(reason)}`)
    return 1
  }
  const exitCode = await exitSignal
  stopWatching()
  const isDone = await running.stop()
  if (!isDone) process.exit(exitCode)
  return exitCode
}

function printStart(file: string, config: Config, { urls, configWarnings: warnings }: Running, { out }: Terminal): void {
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const warning of [...fileWarnings(file), ...configWarnings(config), ...warnings]) out(`warning: ${warning}`)
}

interface Reloading {
  /** Reads the configuration again. If it is not valid, logs the faults and changes nothing. */
  readonly reload: () => void
  readonly stop: () => void
}

/** Reloads the configuration when one of its files changes, and on request. */
function reload(file: string, started: LoadedConfig, running: Running, terminal: Terminal): Reloading {
  let { config, signatures } = started
  let isStopped = false
  const readAgain = async (): Promise<void> => {
    stopWatching()
    const next = await applyConfig(file, running)
    // If the configuration is faulty, the next change triggers another reload.
    signatures = next?.signatures ?? signaturesOf(config.files)
    if (next) {
      printReload(config, next, started.config, running, terminal)
      config = next.config
    }
    if (!isStopped) stopWatching = watchFiles(signatures, again)
  }
  let pendingReload = Promise.resolve()
  // Reloads run one after another, so that the last one applies.
  const again = (): void => {
    pendingReload = pendingReload.then(readAgain)
  }
  let stopWatching = watchFiles(signatures, again)
  const stop = (): void => {
    isStopped = true
    stopWatching()
  }
  return { reload: again, stop }
}

function printReload(
  before: Config,
  { config: after, warnings }: AppliedConfig,
  started: Config,
  { observe }: Running,
  { out }: Terminal,
): void {
  const knownWarnings = configWarnings(before)
  const messages = [
    ...needsRestart(started, after).map((section) => `${section}: a change takes effect after a restart`),
    ...configWarnings(after).filter((warning) => !knownWarnings.includes(warning)),
    ...warnings,
  ]
  out('swapgate: the configuration was read again')
  for (const warning of messages) out(`warning: ${warning}`)
  observe({ what: 'reload', result: 'applied', messages, hash: after.hash })
}

/** A configuration, and the signatures of its files from when it was read. */
interface LoadedConfig {
  readonly config: Config
  readonly signatures: Signatures
}

function load(file: string): LoadedConfig {
  const config = loadConfig(file, knownForms)
  return { config, signatures: signaturesOf(config.files) }
}

interface AppliedConfig extends LoadedConfig {
  readonly warnings: readonly string[]
}

/** Loads and applies the configuration. Undefined if it is not valid or contradicts the ledger. */
async function applyConfig(file: string, { observe, reconfigure }: Running): Promise<AppliedConfig | undefined> {
  try {
    const loaded = load(file)
    return { ...loaded, warnings: await reconfigure(loaded.config) }
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    observe({ what: 'reload', result: 'refused', messages: reason.faults.map(formatFault) })
    return undefined
  }
}
