/** The process: everything that runs, started in order and ended in reverse (docs/contract.md §13). */
import { setTimeout as wait } from 'node:timers/promises'
import type { Readiness } from './adapters/admin.ts'
import { openLedger } from './adapters/ledger.ts'
import { measureLoad } from './adapters/load.ts'
import { type Config, ConfigError } from './config.ts'
import { breaking } from './core/breaker.ts'
import { DeferredResults } from './core/deferred-results.ts'
import { WaitingKeys } from './core/waiting-keys.ts'
import type { Observer } from './domain/observation.ts'
import { forms } from './forms/index.ts'
import { createGateway } from './gateway.ts'
import { openCounters } from './process/counters.ts'
import { Generation } from './process/generation.ts'
import { identification } from './process/identification.ts'
import { listening } from './process/listening.ts'
import { noPages, preparePages } from './process/pages.ts'
import { openAdmin, openPublic } from './process/ports.ts'
import { startRounds } from './process/rounds.ts'
import { Tags } from './process/tags.ts'
import { openTelemetry } from './process/telemetry.ts'
import { openTraces } from './process/traces.ts'
import { version } from './process/version.ts'
import { Connections } from './provider.ts'
import type { Http } from './wire/http.ts'

export interface Running {
  /** By what answers there: `gateway`, `form A`, `admin`, `sandbox`. */
  readonly urls: ReadonlyMap<string, string>
  /**
   * From now on requests are answered by this configuration; those in flight end by the one before. Answers what an operator is
   * to know; throws a `ConfigError` where the ledger contradicts it, and then nothing changes.
   */
  readonly reconfigure: (config: Config) => Promise<readonly string[]>
  /** What an operator is to know of the configuration, by what the ledger knows. */
  readonly notices: readonly string[]
  /** Counts and logs what happens to the process. */
  readonly observe: Observer
  /** Logs what failed with nobody to care. */
  readonly fail: (message: string, reason: unknown) => void
  /** Lets the requests in flight finish, then closes everything. False where something is left that nobody takes. */
  readonly stop: () => Promise<boolean>
}

/** Throws where something cannot be had, with nothing left open. */
export async function start(config: Config): Promise<Running> {
  await using open = new AsyncDisposableStack()
  let readiness: Readiness = 'starting'
  let current = config
  const preparingPages = preparePages(forms)
  const load = measureLoad()
  open.defer(async () => load.stop())
  const telemetry = openTelemetry(config, () => current)
  const { observe, log } = telemetry
  let isTaken = true
  open.defer(async () => {
    isTaken = await log.close()
  })

  const ready = (): Readiness => (readiness === 'ready' && load.strain >= 2 ? 'overloaded' : readiness)
  const admin = await openAdmin(config, ready, telemetry.print)
  open.defer(() => admin.drain.finish(0))

  const sandboxUrls = await addSandbox(config, open)

  const { ledger, accounts, bookkeeping, ...stores } = await openLedger(config.ledger.url)
  const { currencyLists, tags: records, waits: ledgerWaits, close } = stores
  open.defer(close)
  telemetry.watch(bookkeeping)
  const tags = new Tags(records)
  const { faults, notices } = await tags.open(config)
  if (faults.length > 0) throw new ConfigError(faults)
  const { close: closeCounters, ...counters } = await openCounters(config, observe)
  open.defer(closeCounters)
  const tracing = await openTraces(config.telemetry, observe)
  if (tracing) open.defer(tracing.close)
  const results = new DeferredResults({ observe })
  open.defer(() => results.close())
  const connections = new Connections()
  open.defer(() => connections.close())
  const pages = await preparingPages
  const kept = {
    ...counters,
    tracing,
    load,
    ledger,
    currencyLists,
    ledgerWaits,
    results,
    breaker: breaking,
    steadyClock,
    connections,
    keys: new WaitingKeys(),
  }
  const generationOf = (next: Config): Generation => {
    const identify = identification(next, accounts)
    const shown = next.docs ? pages : noPages
    const gateway = createGateway({ ...kept, config: next, forms, identify, observe, version, pages: shown })
    return new Generation(gateway, connections.keep(gateway.connected))
  }
  let generation = generationOf(config)
  const handle: Http = (request) => generation.handle(request)
  const rounds = [
    startRounds(() => generation.reconcile(), 1_000),
    startRounds(() => ledger.expireClaims(), 3_600_000),
    startRounds(() => tags.flush(), 10_000),
  ]
  for (const { stop } of rounds) open.defer(stop)

  const front = await openPublic(config, handle, () => readiness === 'draining')
  open.defer(() => front.drain.finish(config.server.drain * 1000))
  load.watch(front.wait)

  await tags.remember(config)
  readiness = 'ready'
  const running = open.move()
  return {
    urls: new Map([...urlsOf(front.url), ['admin', admin.url], ...sandboxUrls]),
    notices,
    async reconfigure(next) {
      const report = await tags.compare(next)
      if (report.faults.length > 0) throw new ConfigError(report.faults)
      const before = generation
      generation = generationOf(next)
      before.retire()
      current = next
      log.configure(next.log)
      await tags.remember(next)
      return report.notices
    },
    observe,
    fail: log.fail,
    async stop() {
      readiness = 'draining'
      front.drain.begin()
      await wait(config.server.grace * 1000)
      await running.disposeAsync()
      return isTaken
    },
  }
}

const steadyClock = (): number => performance.now()

/** Loaded only where it is wanted. */
async function addSandbox(config: Config, open: AsyncDisposableStack): Promise<[string, string][]> {
  if (!config.sandbox.enabled) return []
  const { openSandbox } = await import('./process/sandbox.ts')
  const address = { host: '127.0.0.1', port: config.sandbox.port }
  const sandbox = await listening('sandbox', address, () => openSandbox(config))
  open.defer(sandbox.close)
  return [['sandbox', sandbox.url]]
}

/** The base URLs that integrators are told to use, and the page that explains them. */
function urlsOf(url: string): [string, string][] {
  const ofForms = forms.map(({ name }): [string, string] => [`form ${name}`, `${url}/${name.toLowerCase()}`])
  return [['gateway', url], ...ofForms, ['docs', `${url}/docs`]]
}
