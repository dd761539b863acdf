/** Two real gateways on one ledger, behind a balancer of `deploy/`, and their provider. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Agent, request } from 'undici'
import { vi } from 'vitest'
import { ledgerIn } from '../checker/configuration.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { freePort } from '../support/free-port.ts'
import { type Balancer, type BalancerName, startBalancer } from './balancers.ts'

export interface SendOptions {
  readonly method?: 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

export interface Site extends AsyncDisposable {
  readonly balancer: Balancer
  readonly gateways: readonly [GatewayProcess, GatewayProcess]
  readonly provider: Provider
  /** Of one account. */
  readonly key: string
  /** With the key, over HTTP/1.1. */
  readonly send: (path: string, options?: SendOptions) => Promise<{ readonly status: number; readonly text: string }>
}

/** Besides the rig's own. */
interface SiteSettings {
  readonly ofProvider?: Readonly<Record<string, unknown>>
  readonly ofLedger?: Readonly<Record<string, unknown>>
}

/** The balancer sends reads to a gateway. */
export async function startSite(name: BalancerName, { ofProvider, ofLedger }: SiteSettings = {}): Promise<Site> {
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-balanced-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const provider = open.use(
    await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'journal') }),
  )
  const [server, admin] = [await freePort(12_000, 4_000), await freePort(16_000, 4_000)]
  const start = async (host: string): Promise<GatewayProcess> =>
    open.use(
      await GatewayProcess.start({
        directory,
        mode: 'managed',
        place: { host, server, admin },
        server: { trustProxy: 1, shutdownDelay: 2 },
        providers: { alpha: { form: 'A', url: provider.url, key: 'own-key', ...ofProvider } },
        sections: { ledger: { url: `sqlite:${ledgerIn(directory)}`, ...ofLedger } },
      }),
    )
  const gateways = await Promise.all([start('127.0.0.1'), start('127.0.0.2')])
  const key = await gateways[0].createKey('acme')
  const balancer = open.use(await startBalancer(name, gateways))
  const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
  open.defer(() => dispatcher.destroy())
  const send: Site['send'] = async (path, options = {}) => {
    const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...options.headers }
    const { statusCode, body } = await request(balancer.url + path, { dispatcher, ...options, headers })
    return { status: statusCode, text: await body.text() }
  }
  await vi.waitUntil(async () => (await send('/a/api/v2/currencies?size=1')).status === 200, { timeout: eventTimeoutMs })
  const ending = open.move()
  return { balancer, gateways, provider, key, send, [Symbol.asyncDispose]: () => ending.disposeAsync() }
}
