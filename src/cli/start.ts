import { type Config, ConfigError, loadConfig } from '../config.ts'
import { forms } from '../forms/index.ts'
import { type Running, start as startProcess } from '../main.ts'
import { untilEnding } from '../process/ending.ts'
import { noticesOf } from '../process/notices.ts'
import { needsRestart } from '../process/restart.ts'
import { version } from '../process/version.ts'
import { type Signatures, signaturesOf, watchFiles } from '../process/watch.ts'
import { tellFaults, textOf } from './check.ts'
import { noticesOfFile } from './option.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until the process is told to end. 1 where it did not start, or not all went well. */
export async function start(file: string, terminal: Terminal): Promise<0 | 1> {
  let hangUp = (): void => {}
  let fail = (message: string, reason: unknown): void =>
    terminal.err(`swapgate: ${message}: ${reason instanceof Error ? reason.stack : String(reason)}`)
  const ending = untilEnding(
    (message, reason) => fail(message, reason),
    () => hangUp(),
  )
  let running: Running
  let stopWatching: () => void
  try {
    const reading = load(file)
    running = await startProcess(reading.config)
    fail = running.fail
    tellStart(file, reading.config, running, terminal)
    const reloading = reload(file, reading, running, terminal)
    hangUp = reloading.reload
    stopWatching = reloading.stop
  } catch (reason) {
    if (reason instanceof ConfigError) tellFaults(file, reason.faults, terminal)
    else terminal.err(`swapgate: ${reason instanceof Error ? reason.message : String(reason)}`)
    return 1
  }
  const exitCode = await ending
  stopWatching()
  const isDone = await running.stop()
  if (!isDone) process.exit(exitCode)
  return exitCode
}

function tellStart(file: string, config: Config, { urls, notices }: Running, { out }: Terminal): void {
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const notice of [...noticesOfFile(file), ...noticesOf(config), ...notices]) out(`notice: ${notice}`)
}

interface Reloading {
  /** Reads the configuration again; one that is not whole changes nothing and is told. */
  readonly reload: () => void
  readonly stop: () => void
}

/** Reads it again whenever one of its files is another one than when it was read, and when it is told to. */
function reload(file: string, started: Reading, running: Running, terminal: Terminal): Reloading {
  let { config, signatures } = started
  let isStopped = false
  const readAgain = async (): Promise<void> => {
    stopWatching()
    const next = await take(file, running)
    // What is faulty now is read again when it has changed once more.
    signatures = next?.signatures ?? signaturesOf(config.files)
    if (next) {
      tellReload(config, next, started.config, running, terminal)
      config = next.config
    }
    if (!isStopped) stopWatching = watchFiles(signatures, again)
  }
  let reading = Promise.resolve()
  // One after another, so that the last one counts.
  const again = (): void => {
    reading = reading.then(readAgain)
  }
  let stopWatching = watchFiles(signatures, again)
  const stop = (): void => {
    isStopped = true
    stopWatching()
  }
  return { reload: again, stop }
}

function tellReload(
  before: Config,
  { config: after, notices }: Taken,
  started: Config,
  { observe }: Running,
  { out }: Terminal,
): void {
  const known = noticesOf(before)
  const told = [
    ...needsRestart(started, after).map((section) => `${section}: a change takes effect after a restart`),
    ...noticesOf(after).filter((notice) => !known.includes(notice)),
    ...notices,
  ]
  out('swapgate: the configuration was read again')
  for (const notice of told) out(`notice: ${notice}`)
  observe({ what: 'reload', result: 'taken', told })
}

/** A configuration and the state of its files when it was read. */
interface Reading {
  readonly config: Config
  readonly signatures: Signatures
}

function load(file: string): Reading {
  const config = loadConfig(file, forms)
  return { config, signatures: signaturesOf(config.files) }
}

interface Taken extends Reading {
  readonly notices: readonly string[]
}

/** The configuration that counts from now on. Undefined where it is not whole, or the ledger contradicts it. */
async function take(file: string, { observe, reconfigure }: Running): Promise<Taken | undefined> {
  try {
    const reading = load(file)
    return { ...reading, notices: await reconfigure(reading.config) }
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    observe({ what: 'reload', result: 'refused', told: reason.faults.map(textOf) })
    return undefined
  }
}
