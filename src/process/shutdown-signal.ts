/** Waits for a signal that ends the process. */

export type ExitCode = 0 | 1

/** npm passes on a signal that the terminal has already sent to all processes: two within this time count as one. */
const duplicateSignalMs = 500

/**
 * Resolves to 0 at the first SIGTERM or SIGINT; a second one ends the process as soon as `abandon` is done. Resolves to 1 after an
 * unhandled failure, which is passed to `report`. SIGHUP, which ends a process by default, calls `hangUp`.
 */
export function untilShutdownSignal(
  report: (message: string, reason: unknown) => void,
  hangUp: () => void,
  abandon: () => Promise<void>,
): Promise<ExitCode> {
  const { promise, resolve } = Promise.withResolvers<ExitCode>()
  let first: number | undefined
  const onSignal = (): void => {
    first ??= performance.now()
    if (performance.now() - first > duplicateSignalMs) void abandon().finally(() => process.exit(1))
    resolve(0)
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
  process.on('SIGHUP', hangUp)
  const fail = (reason: unknown): void => {
    report('unhandled failure', reason)
    resolve(1)
  }
  process.on('unhandledRejection', fail)
  process.on('uncaughtException', fail)
  return promise
}
