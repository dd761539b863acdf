/** A provider is replaced while 100 clients swap through two gateways; no client notices (docs/switching.md). */
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { ProviderDiff } from '../../src/core/operations/provider-diff.ts'
import type { MirrorFigures, StatusReport } from '../../src/core/operations/provider-status.ts'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startPostgres } from '../support/postgres.ts'
import { RedisServer } from '../support/redis.ts'
import { type Created, SwappingClient } from './client.ts'
import type { StartProvider, Step, StoryProvider } from './providers.ts'

export interface Story {
  readonly directory: string
  readonly start: StartProvider
  readonly clients: number
  /** How many new swaps of each step are looked at. */
  readonly swapsPerStep: number
  /** Gets a line for each step. */
  readonly report: (line: string) => void
}

export interface StoryResult {
  readonly complaints: readonly string[]
  /** What the clients got, by tag. */
  readonly created: Readonly<Record<string, number>>
  /** What each provider did, by its journal. */
  readonly applied: Readonly<Record<string, number>>
  /** What the ledger has, by tag. */
  readonly ledger: Readonly<Record<string, number>>
  /** Quotes and creates that alpha got after it was drained. */
  readonly afterDrain: number
  readonly diff: ProviderDiff
  readonly shadow: MirrorFigures | undefined
  /** Shares of new swaps at beta in each step, from 0 to 1. */
  readonly betaShares: readonly number[]
}

interface Shadows {
  readonly shadows: readonly MirrorFigures[]
}

interface OpenSwap extends Created {
  /** At its provider. */
  step: Step
}

const token = 'operator-token-of-the-story-0123456789'
const names = ['alpha', 'beta'] as const

export async function runStory({
  directory,
  start: startProvider,
  clients: count,
  swapsPerStep,
  report,
}: Story): Promise<StoryResult> {
  await using open = new AsyncDisposableStack()
  const redis = open.use(await RedisServer.start())
  const postgres = await startPostgres()
  open.defer(() => postgres.close())
  const alpha = await startProvider('alpha')
  const beta = open.use(await startProvider('beta'))
  let isAlphaAlive = true
  open.defer(async () => (isAlphaAlive ? alpha[Symbol.asyncDispose]() : undefined))
  const ledger = await postgres.createLedger()
  const start = (name: string): Promise<GatewayProcess> => {
    mkdirSync(join(directory, name))
    return GatewayProcess.start({
      directory: join(directory, name),
      mode: 'managed',
      ledger,
      admin: { tokens: { operator: token } },
      providers: { alpha: alpha.settings, beta: beta.settings },
      sections: {
        redis: { url: redis.url },
        ledger: { url: ledger, refreshAfter: 1 },
        log: { requests: false },
        routing: { strategy: 'weighted', providers: names, weights: { alpha: 100, beta: 0 } },
      },
    })
  }
  const gateways = [open.use(await start('one')), open.use(await start('two'))] as const
  const command = <T>(...args: string[]): Promise<T> => gateways[0].command(...args) as Promise<T>
  /** Resolves when every gateway has logged that it follows. */
  const followedBy = async (change: () => Promise<unknown>): Promise<void> => {
    const counts = (): readonly number[] => gateways.map(({ output }) => output.split('"event":"override"').length)
    const before = counts()
    await change()
    while (!counts().every((count, at) => count > (before[at] ?? 0))) await pause(20)
    await begunSwaps()
  }
  /** A swap that a client begins now may have been routed before. */
  const begunSwaps = (): Promise<unknown> => Promise.all(clients.map(({ underWay }) => underWay))

  const swaps: OpenSwap[] = []
  const advancing = setInterval(() => void advance({ alpha, beta }, swaps), 100)
  open.defer(async () => clearInterval(advancing))
  const urls = gateways.map(({ url }) => url)
  const clients: SwappingClient[] = []
  for (let number = 0; number < count; number++) {
    clients.push(new SwappingClient(number, await issueKey(gateways[0].adminUrl, `client-${number}`), urls))
  }
  // One after the other: creates that all come in one moment are more than a disk takes in a second, and some are shed.
  const running: Promise<void>[] = []
  for (const client of clients) {
    running.push(client.run((created) => void swaps.push({ ...created, step: 'wait' })))
    await pause(20)
  }
  const betaShares: number[] = []
  /** Reports how the next new swaps are shared. */
  const watch = async (step: string): Promise<void> => {
    const first = swaps.length
    while (swaps.length < first + swapsPerStep) await pause(100)
    const recent = swaps.slice(first)
    const atBeta = recent.filter(({ id }) => id.startsWith('beta~')).length
    betaShares.push(atBeta / Math.max(1, recent.length))
    const complaints = clients.reduce((sum, client) => sum + client.complaints.length, 0)
    report(`${step}: ${swaps.length} swaps, ${atBeta} of the last ${recent.length} at beta, ${complaints} complaints`)
  }

  await watch(`${count} clients swap at alpha`)
  await command('providers', 'shadow', 'beta=0.5')
  await watch('shadow beta=0.5')
  const isCompared = async (): Promise<boolean> =>
    (await command<Shadows>('providers', 'shadow')).shadows.some(({ samples }) => samples > 0)
  while (!(await isCompared())) await pause(500)
  const diff = await command<ProviderDiff>('providers', 'diff', 'alpha', 'beta', '--pairs', '6')
  const { shadows } = await command<Shadows>('providers', 'shadow')
  report(`shadow: ${shadows[0]?.samples} quotes compared; diff: beta lacks ${diff.onlyFirst.length} assets of alpha`)
  for (const [a, b] of [
    [90, 10],
    [50, 50],
    [0, 100],
  ]) {
    await followedBy(() => command('providers', 'weights', `alpha=${a}`, `beta=${b}`))
    await watch(`weights alpha=${a} beta=${b}`)
  }
  await command('providers', 'drain', 'alpha', '--wait', '--timeout', '600')
  await begunSwaps()
  const drainedAt = Date.now()
  const { providers } = await command<StatusReport>('providers', 'status')
  report(`alpha is ${providers[0]?.state}, and ${providers[0]?.openTransactions} of its transactions are open`)
  isAlphaAlive = false
  await alpha[Symbol.asyncDispose]()
  await watch('alpha is killed')
  for (const client of clients) client.stop()
  await Promise.all(running)
  for (const client of clients) await client.list()

  const stats = await command<{ entries: readonly { provider: string; count: number }[] }>('ledger', 'stats')
  const ids = clients.flatMap((client) => [...client.created.keys()])
  return {
    complaints: clients.flatMap((client) => client.complaints),
    created: byName((name) => ids.filter((id) => id.startsWith(`${name}~`)).length),
    applied: byName((name) => ({ alpha, beta })[name].applied()),
    ledger: byName((name) => stats.entries.filter(({ provider }) => provider === name).reduce((sum, row) => sum + row.count, 0)),
    afterDrain: alpha.newSince(drainedAt),
    diff,
    shadow: shadows[0],
    betaShares,
  }
}

function byName(count: (name: 'alpha' | 'beta') => number): Record<string, number> {
  return Object.fromEntries(names.map((name) => [name, count(name)]))
}

/** Every swap goes on by the time since its creation. */
async function advance(providers: Readonly<Record<string, StoryProvider>>, swaps: readonly OpenSwap[]): Promise<void> {
  const now = Date.now()
  for (const swap of swaps) {
    const { id, createdAt } = swap
    const [tag = '', own = ''] = id.split('~')
    // Some take a second and some three, so that creates are spread over the time.
    const duration = 1_000 + 100 * (Number(own.slice(-2).replace(/\D/g, '')) % 20)
    const progress = (now - createdAt) / duration
    const step = progress >= 1 ? 'success' : progress > 0.6 ? 'exchanging' : progress > 0.3 ? 'confirmation' : 'wait'
    if (swap.step === step) continue
    swap.step = step
    await providers[tag]?.advance(own, step)
  }
}

async function issueKey(adminUrl: string, name: string): Promise<string> {
  const response = await fetch(`${adminUrl}/api/keys`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name }),
  })
  const { key } = (await response.json()) as { readonly key: string }
  return key
}
