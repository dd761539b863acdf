import { type Config, ConfigError, loadConfig } from '../config.ts'
import { forms } from '../forms/index.ts'
import { type Running, start as startProcess } from '../main.ts'
import { untilEnding } from '../process/ending.ts'
import { noticesOf } from '../process/notices.ts'
import { needsRestart } from '../process/restart.ts'
import { version } from '../process/version.ts'
import { type Signatures, signaturesOf, watchFiles } from '../process/watch.ts'
import { tellFaults, textOf } from './check.ts'
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
    tellStart(reading.config, running, terminal)
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

function tellStart(config: Config, { urls }: Running, { out }: Terminal): void {
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const notice of noticesOf(config)) out(`notice: ${notice}`)
}

interface Reloading {
  /** Reads the configuration again; one that is not whole changes nothing and is told. */
  readonly reload: () => void
  readonly stop: () => void
}

/** Reads it again whenever one of its files is another one than when it was read, and when it is told to. */
function reload(file: string, started: Reading, running: Running, terminal: Terminal): Reloading {
  let { config, signatures } = started
  const again = (): void => {
    stopWatching()
    const next = read(file, running)
    // What is faulty now is read again when it has changed once more.
    signatures = next?.signatures ?? signaturesOf(config.files)
    if (next) {
      running.reconfigure(next.config)
      tellReload(config, next.config, started.config, running, terminal)
      config = next.config
    }
    stopWatching = watchFiles(signatures, again)
  }
  let stopWatching = watchFiles(signatures, again)
  return { reload: again, stop: () => stopWatching() }
}

function tellReload(before: Config, after: Config, started: Config, { observe }: Running, { out }: Terminal): void {
  const known = noticesOf(before)
  const told = [
    ...needsRestart(started, after).map((section) => `${section}: a change takes effect after a restart`),
    ...noticesOf(after).filter((notice) => !known.includes(notice)),
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

/** Undefined where it is not whole. */
function read(file: string, { observe }: Running): Reading | undefined {
  try {
    return load(file)
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    observe({ what: 'reload', result: 'refused', told: reason.faults.map(textOf) })
    return undefined
  }
}
