import { type Config, ConfigError, loadConfig } from '../config.ts'
import { forms } from '../forms/index.ts'
import { type Running, start as startProcess } from '../main.ts'
import { untilEnding } from '../process/ending.ts'
import { noticesOf } from '../process/notices.ts'
import { version } from '../process/version.ts'
import { tellFaults } from './check.ts'
import type { Terminal } from './terminal.ts'

/** Runs the gateway until the process is told to end. 1 where it did not start, or not all went well. */
export async function start(file: string, terminal: Terminal): Promise<0 | 1> {
  const ending = untilEnding((line) => terminal.err(`swapgate: ${line}`))
  let running: Running
  try {
    const config = loadConfig(file, forms)
    running = await startProcess(config)
    tellStart(config, running, terminal)
  } catch (reason) {
    if (reason instanceof ConfigError) tellFaults(file, reason.faults, terminal)
    else terminal.err(`swapgate: ${reason instanceof Error ? reason.message : String(reason)}`)
    return 1
  }
  const exitCode = await ending
  await running.stop()
  return exitCode
}

function tellStart(config: Config, { urls }: Running, { out }: Terminal): void {
  out(`swapgate ${version}: ${[...urls].map(([what, url]) => `${what} ${url}`).join(', ')}`)
  for (const notice of noticesOf(config)) out(`notice: ${notice}`)
}
