/** The real gateway on a free port of loopback, from the settings that an operator writes. */
import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey } from '../../src/adapters/crypto.ts'
import { expressApp, messagesOf } from '../../src/adapters/http/express.ts'
import { listen } from '../../src/adapters/http/server.ts'
import { memoryLimiter, memoryVerifiedKeys, memoryWinners } from '../../src/adapters/memory.ts'
import { type Config, readSettings } from '../../src/config/index.ts'
import type { Load } from '../../src/core/access/admission.ts'
import { type Accounts, authentication } from '../../src/core/access/authentication.ts'
import { ProcessorShares } from '../../src/core/access/processor-shares.ts'
import { refusalLifetimeMs, refusedAddresses, verifiedKeyLifetimeMs } from '../../src/core/access/verified-keys.ts'
import type { OperatorActions } from '../../src/core/actions/by-operator.ts'
import { PendingCreateKeys } from '../../src/core/creation/idempotency.ts'
import { DeferredResults } from '../../src/core/creation/record-result.ts'
import { RestoredLedger } from '../../src/core/creation/restored-ledger.ts'
import { Suspensions } from '../../src/core/creation/suspensions.ts'
import { EventHub } from '../../src/core/events/event-hub.ts'
import { FailedReads } from '../../src/core/failed-reads.ts'
import { CreatesInFlight } from '../../src/core/journal.ts'
import type { AuditLog } from '../../src/core/operations/audit.ts'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import type { LedgerAdmin } from '../../src/core/ports/ledger-admin.ts'
import type { RestoreStore } from '../../src/core/ports/restores.ts'
import type { SwapActionStore } from '../../src/core/ports/swap-actions.ts'
import type { WatchStore } from '../../src/core/ports/watches.ts'
import type { CurrencyListStore } from '../../src/core/quotes/read-currency-list.ts'
import type { MakeBreaker } from '../../src/core/resilience/breaker.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'
import { MirrorStatistics } from '../../src/core/routing/mirror.ts'
import { winnerLifetimeMs } from '../../src/core/routing/winners.ts'
import { Timelines } from '../../src/core/timelines.ts'
import { keyBytes, makeKey } from '../../src/domain/key.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { openApiPages, pagesOf } from '../../src/edges/static-page.ts'
import { forms, knownForms } from '../../src/forms/index.ts'
import type { ProcessScope } from '../../src/gateway/process-scope.ts'
import { createGateway } from '../../src/gateway.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { lookup } from '../../src/process/name-lookup.ts'
import { RunningGateway } from '../../src/process/running-gateway.ts'
import { configuredTags } from '../../src/process/tags.ts'
import { Connections } from '../../src/provider/connections.ts'
import type { Http } from '../../src/wire/http.ts'
import type { KnownForms, ProviderForm } from '../../src/wire/provider-form.ts'
import { contentOf } from '../../src/wire/static-page.ts'
import { fastClock, neverOpenBreaker, unlimitedBudgets } from './disabled-resilience.ts'

export interface GatewaySettings {
  /** The one provider, called `alpha` unless it has a `name`. */
  readonly provider: Readonly<Record<string, unknown>> & { readonly name?: string }
  /** Further providers, by name; none of them is in `routing.providers` unless the sections put it there. */
  readonly others?: Readonly<Record<string, Readonly<Record<string, unknown>>>>
  /** Where the ledger is; in memory by default. */
  readonly ledger?: string
  /** Stands between the gateway and its ledger. */
  readonly ledgerLayer?: (ledger: Ledger) => Ledger
  readonly actionsLayer?: (actions: SwapActionStore) => SwapActionStore
  /** In the ledger's store unless given. */
  readonly currencyLists?: CurrencyListStore
  /** Other sections of the configuration file; they replace the ones below. */
  readonly sections?: Readonly<Record<string, unknown>>
  /** In place of `assets.yaml` beside this file. */
  readonly assetTable?: readonly unknown[]
  /** Further forms of providers. */
  readonly providerForms?: readonly ProviderForm[]
  /** Verified keys. */
  readonly preverifiedKeys?: readonly string[]
  /** Unbounded unless given. */
  readonly budgets?: Budgets
  /** Never opens unless given, so that every request of a test is its own. */
  readonly breaker?: MakeBreaker
  /** Over any rest with every look at it, unless given. */
  readonly steadyClock?: () => number
  /** None unless given. */
  readonly load?: Load
  readonly processorShares?: ProcessorShares
  /** In place of the clock by which idempotency keys expire. */
  readonly ledgerClock?: () => number
}

export interface StartedGateway {
  /** That of now. */
  readonly config: Config
  readonly url: string
  readonly port: number
  /** What the gateway counted. */
  readonly observations: readonly Observation[]
  /** An unused key that counts as verified. */
  readonly freshKey: () => Promise<string>
  /** A key for an account of that name, in managed mode. */
  readonly issueKey: (name: string, expiresAt?: number) => Promise<string>
  readonly ledger: Ledger
  readonly accounts: Accounts
  readonly ledgerAdmin: LedgerAdmin
  readonly restores: RestoreStore
  readonly swapActions: SwapActionStore
  readonly watches: WatchStore
  readonly audit: AuditLog
  /** All stores of the ledger. */
  readonly stores: () => OpenLedger
  readonly operatorActions: () => OperatorActions
  /** Learns of what was marked as restored, and found, elsewhere. */
  readonly followRestores: () => Promise<void>
  /** Begins with an empty ledger, where it is in memory. */
  readonly forget: () => Promise<void>
  /** Looks once for the creates whose outcome is unknown. */
  readonly reconcile: () => Promise<void>
  /** Reads what is open at draining providers, as far as it is due. */
  readonly pollTransactions: () => Promise<void>
  /** Finds what is watched, and reads what is due of it. */
  readonly readWatched: () => Promise<void>
  /** Reads the configuration again, with these other facts of the one provider. */
  readonly reload: (facts: Readonly<Record<string, unknown>>) => void
  /** Reads it again with these settings of the file in place of those at the start. */
  readonly reconfigure: (settings: Pick<GatewaySettings, 'provider' | 'others' | 'sections' | 'assetTable'>) => void
  /** Takes no more requests, and breaks off those that wait for a response. */
  readonly cut: () => void
  readonly close: () => Promise<void>
}

export const clientKey = 'canary-client-key-1'

const standardAssets = join(import.meta.dirname, 'assets.yaml')
const reference = { path: '/docs', type: 'text/html', content: contentOf(() => 'The reference.'), isImmutable: false }
const allPages = pagesOf([...openApiPages(forms), reference])
const pages = (): typeof allPages => allPages

/** No cache and no limits, so that every request of a test is a call of its own. */
const standardSections = {
  limits: { quotes: 100_000, create: 100_000, read: 100_000, unverified: 100_000 },
  cache: { currencies: 0, rate: 0, staleFor: 0 },
}

export async function startGateway(settings: GatewaySettings): Promise<StartedGateway> {
  let config = configurationOf(settings)
  const verifiedKeys = memoryVerifiedKeys(verifiedKeyLifetimeMs)
  const verify = (key: string): Promise<void> => verifiedKeys.add(createHash('sha256').update(key).digest('hex'))
  for (const key of settings.preverifiedKeys ?? [clientKey]) await verify(key)
  const observations: Observation[] = []
  const place = settings.ledger ?? 'sqlite::memory:'
  const observe = (observation: Observation): void => void observations.push(observation)
  const onTurnRefused = (work: 'create' | 'read'): void => observe({ what: 'turnRefused', work })
  const openStore = () => openLedger(place, { onTurnRefused, ...(settings.ledgerClock && { now: settings.ledgerClock }) })
  let store = await openStore()
  const { ledgerLayer = (own) => own, actionsLayer = (own) => own } = settings
  const ledger = ledgerLayer(latest(() => store.ledger))
  const ledgerAdmin = latest(() => store.ledgerAdmin)
  const accounts = latest(() => store.accounts)
  const connections = new Connections(lookup)
  const timelines = new Timelines(
    latest(() => store.timelines),
    observe,
  )
  const failedReads = new FailedReads(latest(() => store.failedReads))
  const events = latest(() => store.events)
  const eventHub = new EventHub(
    events,
    latest(() => store.watches),
    observe,
  )
  eventHub.start()
  const results = new DeferredResults({ observe, firstPauseMs: 20, maxPauseMs: 100 })
  const restores = latest(() => store.restores)
  const restoredLedger = new RestoredLedger(restores)
  const scope: ProcessScope = {
    ...formsOf(settings),
    limiter: memoryLimiter(),
    verifiedKeys,
    refusedAddresses: refusedAddresses(memoryVerifiedKeys(refusalLifetimeMs)),
    connections,
    pendingKeys: new PendingCreateKeys(),
    load: settings.load ?? { level: 0 },
    processorShares:
      settings.processorShares ??
      new ProcessorShares(
        () => performance.now(),
        () => 0,
      ),
    ledger,
    ledgerWaits: (account) => store.turnWaits(account),
    createsInFlight: new CreatesInFlight(),
    deferredResults: results,
    timelines,
    failedReads,
    events,
    eventHub,
    swapActions: actionsLayer(latest(() => store.swapActions)),
    watches: latest(() => store.watches),
    suspensions: new Suspensions(
      latest(() => store.suspensions),
      settings.steadyClock ?? fastClock(),
    ),
    restoredLedger,
    restoredOrders: restores,
    currencyLists: settings.currencyLists ?? latest(() => store.currencyLists),
    budgets: settings.budgets ?? unlimitedBudgets,
    winners: memoryWinners(() => performance.now(), winnerLifetimeMs),
    mirrorStatistics: new MirrorStatistics(),
    breaker: settings.breaker ?? neverOpenBreaker,
    steadyClock: settings.steadyClock ?? fastClock(),
    identification: ({ mode }) =>
      mode === 'managed'
        ? authentication({ accounts, digest: hashKey, uses: { note: () => {} }, clock: Date.now, observe })
        : async (key) => ({ identity: hashKey(key) }),
    observe,
    version: '1.2.3',
    pages,
  }
  await store.tags.save(configuredTags(config))
  await restoredLedger.follow()
  let running = runningGateway(config, scope)
  const replaceGateway = (next: GatewaySettings): void => {
    const before = running
    config = configurationOf(next)
    void store.tags.save(configuredTags(config)).catch(() => {})
    running = runningGateway(config, scope)
    before.retire()
  }
  const handle: Http = (request) => running.handle(request)
  const app = expressApp(handle, config.server)
  const { server, url } = await listen(app, handle, { host: '127.0.0.1', port: 0, messages: messagesOf(app) })
  return {
    get config() {
      return config
    },
    url,
    port: Number(new URL(url).port),
    observations,
    async freshKey() {
      const key = `canary-client-key-${randomUUID()}`
      await verify(key)
      return key
    },
    async issueKey(name, expiresAt) {
      const key = makeKey(randomBytes(keyBytes))
      const facts = { id: randomUUID(), name, createdAt: Date.now(), ...(expiresAt !== undefined && { expiresAt }) }
      await accounts.addKey(facts, hashKey(key), 'tester')
      return key
    },
    ledger,
    accounts,
    ledgerAdmin,
    restores,
    swapActions: scope.swapActions,
    watches: scope.watches,
    audit: latest(() => store.audit),
    stores: () => store,
    operatorActions: () => running.operatorActions,
    followRestores: () => restoredLedger.follow(),
    async forget() {
      const before = store
      store = await openStore()
      await before.close()
    },
    reconcile: () => running.reconcile(),
    pollTransactions: () => running.pollTransactions(),
    readWatched: () => running.readWatched(),
    reload: (facts) => replaceGateway({ ...settings, provider: { ...settings.provider, ...facts } }),
    reconfigure: (next) => replaceGateway({ ...settings, ...next }),
    cut() {
      server.close()
      server.closeAllConnections()
    },
    async close() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
      await connections.close()
      await results.close()
      await timelines.close()
      await failedReads.close()
      await eventHub.close()
      await store.close()
    },
  }
}

function configurationOf(settings: GatewaySettings): Config {
  const { provider, others, sections, assetTable } = settings
  const { name = 'alpha', ...facts } = provider
  const document = { routing: { providers: [name] }, ...standardSections, ...sections, providers: { [name]: facts, ...others } }
  const read = (assets: object): Config => readSettings({ ...assets, ...document }, formsOf(settings), {})
  return assetTable ? withTable(assetTable, read) : read({ assets: standardAssets })
}

/** From a file with that table. JSON is YAML too. */
function withTable(table: readonly unknown[], read: (assets: object) => Config): Config {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-test-'))
  const assets = join(directory, 'assets.yaml')
  writeFileSync(assets, JSON.stringify(table))
  const config = read({ assets })
  rmSync(directory, { recursive: true })
  return config
}

function formsOf({ providerForms: further = [] }: GatewaySettings): KnownForms {
  return { forms, providerForms: [...knownForms.providerForms, ...further] }
}

function runningGateway(config: Config, scope: ProcessScope): RunningGateway {
  const gateway = createGateway(config, scope)
  return new RunningGateway(gateway, scope.connections.retain(gateway.connected))
}

/** Whichever it is by then. */
function latest<Port extends object>(port: () => Port): Port {
  const methods = Object.keys(port()) as (keyof Port)[]
  return Object.fromEntries(
    methods.map((name) => [name, (...args: unknown[]) => (port()[name] as (...args: unknown[]) => unknown)(...args)]),
  ) as unknown as Port
}
