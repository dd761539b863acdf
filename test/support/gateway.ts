/** The real gateway on a free port of loopback, from a configuration file as an operator writes it. */
import { createHash, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expressApp, messagesOf } from '../../src/adapters/express.ts'
import { memoryLimiter, memoryProofs } from '../../src/adapters/limiter.ts'
import { listen } from '../../src/adapters/server.ts'
import { loadConfig } from '../../src/config.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { forms } from '../../src/forms/index.ts'
import { createGateway } from '../../src/gateway.ts'

export interface GatewaySettings {
  /** The one provider, called `alpha` unless it has a `name`. */
  readonly provider: Readonly<Record<string, unknown>> & { readonly name?: string }
  /** Other sections of the configuration file; they replace the ones below. */
  readonly sections?: Readonly<Record<string, unknown>>
  readonly assetTable?: readonly unknown[]
  /** Keys that somebody has accepted lately. */
  readonly provenKeys?: readonly string[]
}

export interface RunningGateway {
  readonly url: string
  readonly port: number
  /** What the gateway counted. */
  readonly observations: readonly Observation[]
  /** A key that nobody has used and that counts as accepted. */
  readonly freshKey: () => Promise<string>
  readonly close: () => Promise<void>
}

export const clientKey = 'canary-client-key-1'

/** Nothing is kept and nobody is limited, so that every request of a test is its own. */
const standardSections = {
  limits: { quotes: 100_000, create: 100_000, read: 100_000, unproven: 100_000 },
  cache: { currencies: 0, rate: 0, staleFor: 0 },
}

const assetTable: readonly unknown[] = [
  { coin: 'BTC', name: 'Bitcoin', networks: [{ network: 'BTC', code: 'BTC' }] },
  { coin: 'ETH', name: 'Ethereum', networks: [{ network: 'ETH', code: 'ETH', aliases: ['ERC20'] }] },
  {
    coin: 'USDT',
    name: 'Tether',
    networks: [
      { network: 'ETH', code: 'USDTERC20', aliases: ['ERC20'] },
      {
        network: 'TRX',
        code: 'USDTTRC20',
        default: true,
        aliases: ['TRC20', 'TRON'],
        depositMin: '10.0',
        depositMax: '100000.123456789012345678',
      },
    ],
  },
  {
    coin: 'USDC',
    name: 'USD Coin',
    networks: [
      { network: 'ETH', code: 'USDCERC20' },
      { network: 'SOL', code: 'USDCSOL' },
    ],
  },
  { coin: 'XRP', name: 'XRP', networks: [{ network: 'XRP', code: 'XRP' }] },
]

export async function startGateway(settings: GatewaySettings): Promise<RunningGateway> {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-test-'))
  const file = writeConfiguration(directory, settings)
  const config = loadConfig(file, forms, {})
  rmSync(directory, { recursive: true })
  const proofs = memoryProofs()
  const prove = (key: string): Promise<void> => proofs.add(createHash('sha256').update(key).digest('hex'))
  for (const key of settings.provenKeys ?? [clientKey]) await prove(key)
  const observations: Observation[] = []
  const gateway = createGateway({
    config,
    forms,
    limiter: memoryLimiter(),
    proofs,
    observe: (observation) => void observations.push(observation),
    version: '1.2.3',
  })
  const app = expressApp(gateway.handle, config.server)
  const { server, url } = await listen(app, gateway.handle, { host: '127.0.0.1', port: 0, messages: messagesOf(app) })
  return {
    url,
    port: Number(new URL(url).port),
    observations,
    async freshKey() {
      const key = `canary-client-key-${randomUUID()}`
      await prove(key)
      return key
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await gateway.close()
    },
  }
}

/** JSON is YAML too. */
function writeConfiguration(directory: string, { provider, sections, assetTable: table = assetTable }: GatewaySettings): string {
  const { name = 'alpha', ...facts } = provider
  const document = { routing: { providers: [name] }, ...standardSections, ...sections, providers: { [name]: facts } }
  writeFileSync(join(directory, 'assets.yaml'), JSON.stringify(table))
  const file = join(directory, 'gateway.yaml')
  writeFileSync(file, JSON.stringify(document))
  return file
}
