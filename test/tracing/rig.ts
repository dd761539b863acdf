/** A gateway with issued keys, before two providers of this process, that exports its traces to a collector. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { GatewaySettings } from '../checker/configuration.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import type { GatewayAccess } from '../support/gateway-access.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { ownKeys } from '../support/managed.ts'
import { type Client, client, type FormName } from '../support/pair.ts'
import { Collector } from './collector.ts'

type Gateway = GatewayAccess & AsyncDisposable

export interface Rig<Started extends Gateway = InProcessGateway> extends AsyncDisposable {
  readonly collector: Collector
  readonly gateway: Started
  /** Form A, called first. */
  readonly alpha: ProviderA
  /** Form B. */
  readonly beta: ProviderB
  readonly key: string
  readonly client: (form: FormName) => Client
  /** Reads the lists of both providers. */
  readonly warm: () => Promise<void>
}

interface RigSettings {
  readonly telemetry?: Readonly<Record<string, unknown>>
  readonly sections?: Readonly<Record<string, unknown>>
}

/** Every trace is kept and exported at once, unless `telemetry` changes it. */
export function startRig(settings: RigSettings = {}): Promise<Rig> {
  return startRigWith((gateway) => InProcessGateway.start(gateway), settings)
}

/** The same with another way to start the gateway. */
export async function startRigWith<Started extends Gateway>(
  start: (settings: GatewaySettings) => Promise<Started>,
  { telemetry, sections }: RigSettings,
): Promise<Rig<Started>> {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-tracing-'))
  const [collector, alpha, beta] = await Promise.all([Collector.start(), startFormA(), startFormB()])
  const gateway = await start({
    directory,
    mode: 'managed',
    providers: {
      alpha: { form: 'A', url: alpha.url, key: ownKeys.alpha, timeout: 4 },
      beta: { form: 'B', url: beta.url, key: ownKeys.beta, timeout: 4 },
    },
    sections: {
      cache: { currencies: 600, rate: 0 },
      telemetry: { endpoint: collector.url, ratio: 1, delayMs: 20, ...telemetry },
      ...sections,
    },
  })
  const key = await gateway.createKey('acme')
  const rig = {
    collector,
    gateway,
    alpha,
    beta,
    key,
    client: (form: FormName) => client(form, gateway.url),
    async warm() {
      const { status } = await rig.client('A').get('/currencies', { key: null })
      if (status !== 200) throw new Error(`the lists cannot be read: ${status}`)
    },
    async [Symbol.asyncDispose]() {
      await gateway[Symbol.asyncDispose]()
      await Promise.all([alpha.close(), beta.close(), collector[Symbol.asyncDispose]()])
      rmSync(directory, { recursive: true })
    },
  }
  return rig
}
