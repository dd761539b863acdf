import { setTimeout as delay } from 'node:timers/promises'
import { configFile, loadConfig } from '../../config/index.ts'
import { openAt } from '../../core/operations/change.ts'
import type { ProviderState } from '../../domain/service.ts'
import { knownForms } from '../../forms/index.ts'
import { effectiveConfig } from '../../process/in-force.ts'
import { messageOf, type Session } from '../session.ts'

/** After this time every running gateway has applied the change and begins no more creates. */
const propagationMs = 5_000
const pollMs = 1_000

export interface WaitOptions {
  readonly name: string
  readonly tag: string
  readonly timeoutMs: number
  /** Open transactions before the wait. */
  readonly open: number
  readonly config: string | undefined
  /** Called when the number of open transactions changes, or on a new failure. */
  readonly report: (line: string) => void
}

/** `open`: the last count. `inUse`: the provider accepts new swaps again, so the wait would not end. */
export interface WaitResult {
  readonly outcome: 'drained' | 'timedOut' | 'inUse'
  readonly open: number
}

/** Waits until nothing is open at the provider. Retries if the ledger fails. */
export async function untilDrained(options: WaitOptions, session: Session): Promise<WaitResult> {
  const { timeoutMs, report } = options
  const deadline = performance.now() + timeoutMs
  let open: number | undefined
  let failure = ''
  let isApplied = false
  for (let pauseMs = propagationMs; ; pauseMs = pollMs) {
    const leftMs = deadline - performance.now()
    await delay(Math.min(pauseMs, Math.max(leftMs, 0)))
    isApplied ||= leftMs >= pauseMs
    const found = await poll(options, session).catch(messageOf)
    if (typeof found === 'string') {
      if (found !== failure) report(`the open transactions of ${options.name} cannot be counted; retrying: ${found}`)
      failure = found
    } else {
      failure = ''
      if (found.open !== open) report(`${found.open} open at ${options.name}`)
      open = found.open
      if (found.state === 'active') return { outcome: 'inUse', open }
      // Until every gateway has applied the change, creates may still begin.
      if (open === 0 && isApplied) return { outcome: 'drained', open }
    }
    if (performance.now() >= deadline) return { outcome: 'timedOut', open: open ?? options.open }
  }
}

interface PollResult {
  readonly state: ProviderState | undefined
  readonly open: number
}

async function poll({ name, tag, config }: WaitOptions, { stores }: Session): Promise<PollResult> {
  // The file may have changed since the last poll.
  const file = loadConfig(configFile(config), knownForms)
  const { providers } = effectiveConfig(file, await stores.overrides.read())
  const open = openAt(await stores.ledgerAdmin.openCounts(), tag)
  return { state: providers.find((provider) => provider.name === name)?.state, open }
}
