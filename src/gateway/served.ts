/** A service as HTTP: in each form, and beside it the providers' own paths. */

import { addressLimit, pageLimit } from '../core/access/admission.ts'
import type { ActionParts } from '../core/actions/act.ts'
import { lookForActions } from '../core/actions/look.ts'
import type { SentCreateKeys } from '../core/creation/idempotency.ts'
import { ListScans } from '../core/creation/list-scan.ts'
import { reconcile } from '../core/creation/reconcile.ts'
import { eachAlone } from '../domain/async.ts'
import type { EventFeeds } from '../domain/event-stream.ts'
import type { Answers } from '../domain/question.ts'
import type { Gate, SwapService } from '../domain/service.ts'
import { basePathsOf, mounts } from '../edges/mounts.ts'
import { serveHooks } from '../edges/provider-hooks.ts'
import { serve } from '../edges/serve.ts'
import { docsPath } from '../edges/static-page.ts'
import { formNamed } from '../forms/index.ts'
import { serveNative } from '../native/serve.ts'
import type { Http } from '../wire/http.ts'
import type { Gateway, GatewayScope } from './process-scope.ts'
import type { RoutedProvider } from './routed-provider.ts'

/** Serves the service in every form, each at its own mount. */
export function served(
  service: SwapService,
  gate: Gate,
  answers: Answers,
  feeds: EventFeeds,
  sentCreateKeys: SentCreateKeys,
  providers: readonly RoutedProvider[],
  gateway: GatewayScope,
): Http {
  const { config, forms, ledger, absentSwaps, limiter, load, watches, identification, isManaged, observe, tracing, pages } = gateway
  const countProcessor = gateway.processorShares.count.bind(gateway.processorShares)
  const identify = identification(config.auth)
  const sandboxTags = new Set(config.providers.filter(({ sandbox }) => sandbox).map(({ tag }) => tag))
  const isAskedAgain = (identity: string, key: string): boolean => sentCreateKeys.has(identity, key)
  const servedPages = config.docs ? pages(config) : new Map()
  const helpPath = servedPages.has(docsPath) ? docsPath : undefined
  const edge = { gate, identify, countProcessor, isAskedAgain, observe, tracing, sandboxTags, helpPath }
  const settings = {
    maxAgeSeconds: { listCurrencies: config.cache.currencies, getRate: config.cache.rate },
    pageGate: pageLimit(limiter, load, observe),
    answers,
    feeds,
    hasPicks: isManaged && config.routing.pick.length > 0,
    basePaths: basePathsOf(forms),
    keyInQuery: config.keyInQuery,
    requiresIdempotencyKey: config.creates.requireIdempotencyKey,
    networksOf: (coin: string) => config.assets.coin(coin)?.assets.map(({ network }) => network) ?? [],
  }
  const handlers = new Map(forms.map((form) => [form, serve(form, service, edge, settings)]))
  // A provider's own paths: bytes pass unchanged, for clients with an issued key.
  const lanes = new Map(providers.flatMap(({ native }) => (native ? [[native.tag, native] as const] : [])))
  const native = serveNative(lanes, edge, ledger.swapsNamed, absentSwaps)
  const secrets = new Map(
    config.providers.flatMap(({ tag, state, hook }) => (hook && state !== 'off' ? [[tag, hook] as const] : [])),
  )
  const gateOfHooks = addressLimit('hooks', limiter, observe)
  const hooks = secrets.size > 0 ? serveHooks({ secrets, gate: gateOfHooks, hint: watches.hint }, edge) : undefined
  return mounts(handlers, formNamed(config.defaultForm, forms), servedPages, native, hooks)
}

/** What actions on swaps need. */
export function actionPartsOf(
  providers: readonly RoutedProvider[],
  { ledger, swapActions: store, absentSwaps, clock, observe }: GatewayScope,
): ActionParts {
  return { providers: new Map(providers.map(({ tag, acting }) => [tag, acting])), ledger, store, absentSwaps, clock, observe }
}

// What a gateway does without a request. The process calls both at intervals.

export function backgroundWork(
  providers: readonly RoutedProvider[],
  actions: ActionParts,
  lookMs: Map<string, number>,
  gateway: GatewayScope,
): Pick<Gateway, 'reconcile' | 'pollTransactions' | 'readWatched'> {
  const { config, ledger, journal, deferredResults, otherDeposits, timelines, pendingKeys, isManaged, clock, observe, tracing } =
    gateway
  const readers = new Map(providers.flatMap(({ tag, scope, reader }) => (scope.state !== 'off' && reader ? [[tag, reader]] : [])))
  const scans = new ListScans()
  const searching = new Set<string>()
  const looking = new Set<string>()
  const polling = new Set<string>()
  const polls = new Map(providers.flatMap(({ tag, poll }) => (poll ? [[tag, poll] as const] : [])))
  const windowMs = config.ledger.reconcileFor * 1000
  const search = async (): Promise<void> => {
    await reconcile({
      timelines,
      otherDeposits,
      ledger,
      journal,
      deferredResults,
      readers,
      scans,
      lookMs,
      searching,
      pendingKeys,
      windowMs,
      clock,
      observe,
      tracing,
    })
    observe({ what: 'reconciled', at: clock() })
  }
  return {
    async reconcile() {
      await Promise.all([search(), isManaged && lookForActions(windowMs, looking, actions)])
    },
    pollTransactions: () => eachAlone(polling, polls, (poll) => poll()),
    async readWatched() {
      await Promise.allSettled(providers.map(({ readWatched }) => readWatched?.()))
    },
  }
}
