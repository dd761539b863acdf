import { setTimeout as delay } from 'node:timers/promises'
import { configFile, loadConfig } from '../../config/index.ts'
import { openAt } from '../../core/operations/consequences.ts'
import type { ProviderState } from '../../domain/swap/provider-state.ts'
import { forms } from '../../forms/index.ts'
import { effectiveConfig } from '../../process/configuration/overrides.ts'
import { messageOf, type Session } from '../session.ts'

/** Until then every gateway that runs follows, and begins no more creates. */
const followMs = 5_000
const pollMs = 1_000

export interface WaitOptions {
  readonly name: string
  readonly tag: string
  readonly timeoutMs: number
  /** Before it is waited. */
  readonly open: number
  readonly config: string | undefined
  /** Called whenever there is something new to tell. */
  readonly tell: (line: string) => void
}

/** `open`: as last counted. `inUse`: it takes new swaps again, and would never be drained. */
export interface WaitResult {
  readonly outcome: 'drained' | 'timedOut' | 'inUse'
  readonly open: number
}

/** Waits until nothing is open at the provider. What the ledger does not answer is asked again. */
export async function untilDrained(options: WaitOptions, session: Session): Promise<WaitResult> {
  const { timeoutMs, tell } = options
  const deadline = performance.now() + timeoutMs
  let open: number | undefined
  let failure = ''
  for (let pauseMs = followMs; ; pauseMs = pollMs) {
    const leftMs = deadline - performance.now()
    await delay(Math.min(pauseMs, Math.max(leftMs, 0)))
    const found = await look(options, session).catch(messageOf)
    if (typeof found === 'string') {
      if (found !== failure) tell(`${options.name} cannot be looked at, and it is tried again: ${found}`)
      failure = found
    } else {
      failure = ''
      if (found.open !== open) tell(`${found.open} open at ${options.name}`)
      open = found.open
      if (found.state === 'active') return { outcome: 'inUse', open }
      // Before the gateways follow, creates may still begin.
      if (open === 0 && leftMs >= pauseMs) return { outcome: 'drained', open }
    }
    if (performance.now() >= deadline) return { outcome: 'timedOut', open: open ?? options.open }
  }
}

interface Look {
  readonly state: ProviderState | undefined
  readonly open: number
}

async function look({ name, tag, config }: WaitOptions, { stores }: Session): Promise<Look> {
  // The file may be another one by now.
  const file = loadConfig(configFile(config), forms)
  const { providers } = effectiveConfig(file, await stores.overrides.read())
  const open = openAt(await stores.ledgerAdmin.openCounts(), tag)
  return { state: providers.find((provider) => provider.name === name)?.state, open }
}
