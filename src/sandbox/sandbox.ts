/**
 * The built-in provider, put together and started: one state, every form, its own port (docs/contract-operators.md §14). It has the coins of the
 * asset table but `XNO`, on several networks, some with memos; prices, limits and fees for each pair; both rate types. Any other amount than
 * those of `rehearsals.ts` means nothing.
 */
import type { Limiter } from '../core/access/limits.ts'
import type { AssetTable } from '../domain/asset.ts'
import type { SandboxControl } from '../domain/sandbox-event.ts'
import { mounts } from '../edges/mounts.ts'
import { serve } from '../edges/serve.ts'
import type { Form } from '../wire/form.ts'
import { sandboxActions } from './actions.ts'
import { control, drive } from './control.ts'
import { faultInjector, injectFaults, type Pause } from './faults.ts'
import { market } from './market.ts'
import type { Digest } from './networks.ts'
import { type Outage, offered, rehearsalOf } from './rehearsals.ts'
import { type Listen, type SandboxLimits, type Server, sandboxGate } from './server.ts'
import { type Sandbox, sandboxService } from './service.ts'
import { ownWords, type Pace, type Store } from './store.ts'

/** `config.sandbox` as far as it is needed here. */
export interface SandboxSettings extends Pace {
  /** 0: any free one. */
  readonly port: number
  /** The file of the store. */
  readonly data: string
  readonly seed: number
  readonly limits: SandboxLimits
}

export interface SandboxParts {
  readonly settings: SandboxSettings
  readonly assets: AssetTable
  /** The first one's errors are those of paths outside the forms' mounts. */
  readonly forms: readonly Form[]
  readonly limiter: Limiter
  /** What makes a key's identity, too. */
  readonly digest: Digest
  readonly openStore: (file: string) => Store
  readonly listen: Listen
  /** Milliseconds since 1970. */
  readonly clock: () => number
  readonly pause: Pause
}

/** Its mounts are `/a/api/v2` and so on, one for each form. */
export interface RunningSandbox extends Server, SandboxControl {}

/** Rejects where the port is taken or the file cannot be opened. */
export async function startSandbox(parts: SandboxParts): Promise<RunningSandbox> {
  const { settings, assets, openStore, digest, clock, listen } = parts
  const store = openStore(settings.data)
  const sandbox: Sandbox = { assets: offered(assets), market: market(settings.seed), store, pace: settings, digest, clock }
  try {
    const { port, close } = await listen(handler(sandbox, parts), settings.port)
    return {
      port,
      url: `http://127.0.0.1:${port}`,
      drive: async (id, event) => drive(id, event, sandbox),
      async close() {
        await close()
        store.close()
      },
    }
  } catch (reason) {
    store.close()
    throw reason
  }
}

function handler(sandbox: Sandbox, { settings, forms, limiter, digest, pause }: SandboxParts) {
  const [defaultForm] = forms
  if (!defaultForm) throw new Error('The sandbox has no form.')
  const service = sandboxService(sandbox)
  const edge = {
    gate: sandboxGate(limiter, settings.limits, digest),
    identify: async (key: string) => ({ identity: digest(key) }),
    observe: () => {},
  }
  const injector = faultInjector(Math.random)
  const answers = sandboxActions(sandbox, service)
  const outageOfAction = (id: string): Outage | undefined => {
    const swap = sandbox.store.find(id)
    return swap && rehearsalOf(swap.promised ?? swap.amountIn)?.action
  }
  const handlers = forms.map((form) => {
    return [
      form,
      injectFaults(serve(form.withStatusWords(ownWords), service, edge, { answers }), form, injector, pause, outageOfAction),
    ] as const
  })
  return control(mounts(new Map(handlers), defaultForm), sandbox, injector, defaultForm)
}
