/** Gateways with issued keys over one ledger, the commands over the same, and a provider of each form. */
import { copyFileSync, rmSync } from 'node:fs'
import { onTestFinished } from 'vitest'
import { Place } from '../cli/place.ts'
import type { CommandResult } from '../support/command.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { type GatewaySettings, type StartedGateway, startGateway } from '../support/gateway.ts'
import { startPostgres } from '../support/postgres.ts'

export interface RestoreRig {
  readonly alpha: ProviderA
  readonly beta: ProviderB
  readonly place: Place
  readonly swapgate: (...args: readonly string[]) => Promise<CommandResult>
  /** One more gateway over the ledger. */
  readonly start: (settings?: Partial<GatewaySettings>) => Promise<StartedGateway>
  /** The ledger of a gateway that has ended becomes that of the backup. */
  readonly restore: (backup: string) => void
}

/** `routing`: the providers, in order. */
export async function restoreRig(
  store: 'SQLite' | 'PostgreSQL' = 'SQLite',
  routing: readonly string[] = ['alpha'],
): Promise<RestoreRig> {
  const [alpha, beta] = [await startFormA(), await startFormB()]
  const server = store === 'PostgreSQL' ? await startPostgres() : undefined
  const ledgerUrl = await server?.createLedger()
  const place = new Place({ providers: [alpha, beta], ...(ledgerUrl !== undefined && { ledgerUrl }) })
  const gateways: StartedGateway[] = []
  onTestFinished(async () => {
    await Promise.all(gateways.map(({ close }) => close()))
    await Promise.all([alpha.close(), beta.close()])
    place[Symbol.dispose]()
    await server?.close()
  })
  return {
    alpha,
    beta,
    place,
    swapgate: (...args) => place.swapgate(...args),
    async start(settings = {}) {
      const gateway = await startGateway({
        ledger: place.ledgerUrl,
        provider: { name: 'alpha', form: 'A', url: alpha.url, key: 'provider-key-1' },
        others: { beta: { form: 'B', url: beta.url, key: 'provider-key-1' } },
        sections: { auth: { mode: 'managed' }, routing: { providers: routing }, ledger: { refreshAfter: 0 } },
        ...settings,
      })
      gateways.push(gateway)
      return gateway
    },
    restore(backup) {
      const file = place.ledgerUrl.slice('sqlite:'.length)
      for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
      copyFileSync(backup, file)
    },
  }
}
