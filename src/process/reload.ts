import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { type Config, ConfigError, faultLines, formatFault, loadConfigInThread, type Ports } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { tokenHelp } from '../operator/start-token.ts'
import { type Running, start } from './start.ts'
import { needsRestart } from './start-settings.ts'
import type { ProcessIo } from './telemetry.ts'
import { version } from './version.ts'
import { configWarnings, fileWarnings, newConfigWarnings } from './warnings.ts'
import { workerCount } from './workers.ts'

/** A running gateway that follows its configuration file. */
export interface FileGateway extends Pick<Running, 'urls' | 'logError' | 'abandon'> {
  /** Reads the configuration again. If it is not valid, logs the faults and changes nothing. */
  readonly reload: () => void
  /** Waits for the requests in flight, then closes everything. False if log lines could not be written. */
  readonly stop: () => Promise<boolean>
}

/** Prints a line: results to `out`, errors to `err`. */
interface Lines {
  /** Whether `out` is read by a person. */
  readonly isTerminal: boolean
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}

/** Starts the gateway and prints its URLs and warnings. If it does not start: prints why and returns undefined. */
export async function startFromFile(
  file: string,
  ports: Ports,
  lines: Lines,
  processIo?: ProcessIo,
): Promise<FileGateway | undefined> {
  try {
    const loaded = await load(file, ports, signaturesOf([resolve(file)]))
    const running = await start(loaded.config, processIo, { is: workerCount(loaded.config) > 1 ? 'primary' : 'whole' })
    printStart(file, loaded.config, running, lines)
    const reloading = followFile(file, ports, loaded, running, lines)
    const stop = (): Promise<boolean> => {
      reloading.stop()
      return running.stop()
    }
    return { ...running, reload: reloading.reload, stop }
  } catch (reason) {
    if (reason instanceof ConfigError) for (const line of faultLines(file, reason.faults)) lines.err(line)
    else lines.err(`swapgate: ${reason instanceof Error ? reason.message : String(reason)}`)
    return undefined
  }
}

function printStart(file: string, config: Config, running: Running, lines: Lines): void {
  const { urls, configWarnings: warnings } = running
  const { out } = lines
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const warning of [...fileWarnings(file), ...configWarnings(config), ...warnings]) out(`warning: ${warning}`)
  if (Object.keys(config.admin.tokens).length === 0) for (const line of pageLines(running, lines)) out(line)
}

/** The operator's page, with a token that nobody else gets; or how to get one. */
function pageLines({ urls, makeStartToken }: Running, { isTerminal }: Lines): readonly string[] {
  const token = isTerminal ? makeStartToken() : undefined
  return token === undefined
    ? tokenHelp
    : ["The operator's page, until this process ends:", `  ${urls.get('admin')}/#token=${token}`]
}

interface Reloading {
  /** Reads the configuration again. If it is not valid, logs the faults and changes nothing. */
  readonly reload: () => void
  readonly stop: () => void
}

/** Reloads the configuration when one of its files changes, and on request. */
function followFile(file: string, ports: Ports, started: LoadedConfig, running: Running, lines: Lines): Reloading {
  let { config } = started
  let isStopped = false
  const readAgain = async (): Promise<void> => {
    if (isStopped) return
    stopWatching()
    const before = signaturesOf([...config.texts.keys()])
    const next = await applyConfig(file, ports, before, running)
    if (next) {
      printReload(config, next, started.config, running, lines)
      config = next.config
    }
    // If the configuration is faulty, the next change triggers another reload.
    if (!isStopped) stopWatching = watchFiles(next?.signatures ?? before, again)
  }
  let pendingReload = Promise.resolve()
  // Reloads run one after another, so that the last one applies.
  const again = (): void => {
    pendingReload = pendingReload.then(readAgain)
  }
  let stopWatching = watchFiles(started.signatures, again)
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
  { out }: Lines,
): void {
  const messages = [
    ...needsRestart(started, after).map((section) => `${section}: a change takes effect after a restart`),
    ...newConfigWarnings(before, after),
    ...warnings,
  ]
  out('swapgate: the configuration was read again')
  for (const warning of messages) out(`warning: ${warning}`)
  observe({ what: 'reload', result: 'applied', messages, hash: after.hash })
}

/** A configuration, and the signatures of its files. */
interface LoadedConfig {
  readonly config: Config
  readonly signatures: Signatures
}

/** `before`: signatures from before the files are read, so that a change meanwhile counts as one. */
async function load(file: string, ports: Ports, before: Signatures): Promise<LoadedConfig> {
  const config = await loadConfigInThread(file, knownForms, ports)
  return { config, signatures: signaturesOf([...config.texts.keys()], before) }
}

interface AppliedConfig extends LoadedConfig {
  readonly warnings: readonly string[]
}

/** Loads and applies the configuration. Undefined if it is not valid or contradicts the ledger, or if that cannot be found out. */
async function applyConfig(
  file: string,
  ports: Ports,
  before: Signatures,
  { observe, reconfigure, logError }: Running,
): Promise<AppliedConfig | undefined> {
  try {
    const loaded = await load(file, ports, before)
    return { ...loaded, warnings: await reconfigure(loaded.config) }
  } catch (reason) {
    const isRefused = reason instanceof ConfigError
    if (!isRefused) logError('the configuration could not be read again', reason)
    observe({ what: 'reload', result: 'refused', messages: isRefused ? reason.faults.map(formatFault) : [] })
    return undefined
  }
}

/** Milliseconds between checks. Polling works on every file system, and for links that are replaced. */
const intervalMs = 1_000

/** Differs between two states of a file; empty if there is no file, or none that can be examined. */
type Signatures = ReadonlyMap<string, string>

/** `known`: signatures that were read earlier, and are kept. */
export function signaturesOf(files: readonly string[], known: Signatures = new Map()): Signatures {
  return new Map(files.map((file) => [file, known.get(file) ?? signatureOf(file)]))
}

/** Calls `changed` once, when any of the files has changed. Returns a function that stops watching. */
export function watchFiles(before: Signatures, changed: () => void): () => void {
  const timer = setInterval(() => {
    if ([...before].every(([file, signature]) => signatureOf(file, signature) === signature)) return
    clearInterval(timer)
    changed()
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** `known`: the signature while the process may open no more files. */
function signatureOf(file: string, known = ''): string {
  try {
    const { ino, size, mtimeMs } = statSync(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE' ? known : ''
  }
}
