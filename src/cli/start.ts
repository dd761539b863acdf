import cluster from 'node:cluster'
import type { Ports } from '../config/index.ts'
import { startFromFile } from '../process/reload.ts'
import { untilShutdownSignal } from '../process/shutdown-signal.ts'
import { runWorker } from '../process/worker.ts'
import { eachLine, type Terminal } from './terminal.ts'

/** Runs the gateway until SIGTERM or SIGINT. Returns 1 if it did not start or did not stop cleanly. */
export async function start(file: string, ports: Ports, terminal: Terminal): Promise<0 | 1> {
  if (cluster.isWorker) return process.exit(await runWorker(file, ports))
  let hangUp = (): void => {}
  let fail = (message: string, reason: unknown): void =>
    eachLine(`swapgate: ${message}: ${reason instanceof Error ? reason.stack : String(reason)}`, terminal.err)
  let abandon = async (): Promise<void> => {}
  const exitSignal = untilShutdownSignal(
    (message, reason) => fail(message, reason),
    () => hangUp(),
    () => abandon(),
  )
  const gateway = await startFromFile(file, ports, terminal)
  if (!gateway) return 1
  fail = gateway.logError
  hangUp = gateway.reload
  abandon = async () => terminal.err(endedAtOnce(await gateway.abandon()))
  const exitCode = await exitSignal
  const isDone = await gateway.stop()
  if (!isDone) process.exit(exitCode)
  return exitCode
}

const maxNamed = 20

function endedAtOnce(creates: readonly string[]): string {
  if (creates.length === 0) return 'swapgate: ended at once; no create was in flight'
  const more = creates.length > maxNamed ? ` and ${creates.length - maxNamed} more` : ''
  const named = creates.slice(0, maxNamed).join(', ')
  return `swapgate: ended at once; creates were in flight, and are looked for after the next start: ${named}${more}`
}
