import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import { type ChangeFlags, describeState, openOf, printRefusal, printState, setState } from './change.ts'
import { untilDrained, type WaitResult } from './wait.ts'

export interface DrainFlags extends ChangeFlags {
  readonly wait?: boolean
  /** Milliseconds. */
  readonly timeout?: number
}

const dayMs = 86_400_000
const waitRefusal = {
  outcome: 'invalid',
  message: '--wait needs auth.mode managed: in passthrough mode the ledger only has transactions as clients last read them',
} as const

export async function drain(
  name: string,
  { wait = false, timeout = dayMs, ...options }: DrainFlags,
  session: Session,
): Promise<ExitCode> {
  if (!wait) return printState(name, 'draining', options, session)
  const { config, terminal } = session
  if (config.auth.mode === 'passthrough') return printRefusal(waitRefusal, options.json, session)
  const status = await setState(name, 'draining', options, session)
  if (!status) return 1
  const { json = false } = options
  if (!json) for (const line of describeState(status, session)) terminal.out(line)
  const report = json ? terminal.err : terminal.out
  const result = await untilDrained(
    { name, tag: status.tag, timeoutMs: timeout, open: openOf(status), config: options.config, report },
    session,
  )
  if (json) terminal.out(JSON.stringify({ ...status, wait: result }))
  return printEnd(name, result, session)
}

function printEnd(name: string, { outcome, open }: WaitResult, { terminal }: Session): ExitCode {
  if (outcome === 'drained') return 0
  const why = outcome === 'inUse' ? `${name} accepts new swaps again` : `timed out with ${open} open at ${name}`
  return refuse(why, terminal)
}
