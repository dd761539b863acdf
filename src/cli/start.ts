import { type Config, ConfigError, loadConfig } from '../config.ts'
import { forms } from '../forms/index.ts'
import { type Running, start as startProcess } from '../main.ts'
import { untilEnding } from '../process/ending.ts'
import { noticesOf } from '../process/notices.ts'
import { needsRestart } from '../process/restart.ts'
import { version } from '../process/version.ts'
import { type Signatures, signaturesOf, watchFiles } from '../process/watch.ts'
import { tellFaults } from './check.ts'
import { noticesOfFile } from './option.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until the process is told to end. 1 where it did not start, or not all went well. */
export async function start(file: string, terminal: Terminal): Promise<0 | 1> {
  let hangUp = (): void => {}
  const ending = untilEnding(
    (line) => terminal.err(`swapgate: ${line}`),
    () => hangUp(),
  )
  let running: Running
  let stopWatching: () => void
  try {
    const reading = load(file)
    running = await startProcess(reading.config)
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
  await running.stop()
  return exitCode
}

function tellStart(file: string, config: Config, { urls }: Running, { out }: Terminal): void {
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const notice of [...noticesOfFile(file), ...noticesOf(config)]) out(`notice: ${notice}`)
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
    const next = read(file, terminal)
    // What is faulty now is read again when it has changed once more.
    signatures = next?.signatures ?? signaturesOf(config.files)
    if (next) {
      running.reconfigure(next.config)
      tellReload(config, next.config, started.config, terminal)
      config = next.config
    }
    stopWatching = watchFiles(signatures, again)
  }
  let stopWatching = watchFiles(signatures, again)
  return { reload: again, stop: () => stopWatching() }
}

function tellReload(before: Config, after: Config, started: Config, { out }: Terminal): void {
  out('swapgate: the configuration was read again')
  for (const section of needsRestart(started, after)) out(`notice: ${section}: a change takes effect after a restart`)
  const known = noticesOf(before)
  for (const notice of noticesOf(after)) if (!known.includes(notice)) out(`notice: ${notice}`)
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

function read(file: string, terminal: Terminal): Reading | undefined {
  try {
    return load(file)
  } catch (reason) {
    if (!(reason instanceof ConfigError)) throw reason
    tellFaults(file, reason.faults, terminal)
    terminal.err('swapgate: the configuration stays as it was')
    return undefined
  }
}
