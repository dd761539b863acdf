/** The gateway with a third form in its list, in memory, before a provider over HTTP. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { hashKey } from '../../src/adapters/crypto.ts'
import { memoryLimiter, memoryVerifiedKeys, memoryWinners } from '../../src/adapters/memory.ts'
import { loadConfig } from '../../src/config/index.ts'
import { ProcessorShares } from '../../src/core/access/processor-shares.ts'
import { refusalLifetimeMs, refusedAddresses, verifiedKeyLifetimeMs } from '../../src/core/access/verified-keys.ts'
import { PendingCreateKeys } from '../../src/core/creation/idempotency.ts'
import { DeferredResults } from '../../src/core/creation/record-result.ts'
import { RestoredLedger } from '../../src/core/creation/restored-ledger.ts'
import { Suspensions } from '../../src/core/creation/suspensions.ts'
import { EventHub } from '../../src/core/events/event-hub.ts'
import { FailedReads } from '../../src/core/failed-reads.ts'
import { CreatesInFlight } from '../../src/core/journal.ts'
import { MirrorStatistics } from '../../src/core/routing/mirror.ts'
import { winnerLifetimeMs } from '../../src/core/routing/winners.ts'
import { Timelines } from '../../src/core/timelines.ts'
import { openApiPages, pagesOf } from '../../src/edges/static-page.ts'
import { formA } from '../../src/forms/a.ts'
import { formB } from '../../src/forms/b.ts'
import type { Gateway } from '../../src/gateway/process-scope.ts'
import { createGateway } from '../../src/gateway.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { lookup } from '../../src/process/name-lookup.ts'
import { Connections } from '../../src/provider/connections.ts'
import type { HttpResponse } from '../../src/wire/http.ts'
import { providerFormOf } from '../../src/wire/provider-form.ts'
import { fastClock, neverOpenBreaker, unlimitedBudgets } from '../support/disabled-resilience.ts'
import { formC } from './c.ts'
import type { FormName } from './documents.ts'
import { credentials, type Request } from './requests.ts'

/** All that adding the form takes. */
const forms = [formA, formB, formC]
const knownForms = { forms, providerForms: forms.map(providerFormOf) }

const assets = `
- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC, depositMin: 0.0010 } ] }
- coin: USDT
  name: Tether
  networks:
    - { network: TRX, code: USDTTRC20, default: true, aliases: [TRON] }
    - { network: ETH, code: USDTERC20 }
`

export async function startGateway(
  form: FormName,
  url: string,
): Promise<Pick<Gateway, 'handle'> & { readonly close: () => Promise<void> }> {
  const folder = mkdtempSync(join(tmpdir(), 'swapgate-form-c-'))
  const settings = `
defaultForm: C
providers: { alpha: { form: ${form}, url: "${url}" } }
routing: { providers: [alpha] }
`
  writeFileSync(join(folder, 'assets.yaml'), assets)
  writeFileSync(join(folder, 'gateway.yaml'), settings)
  const config = loadConfig(join(folder, 'gateway.yaml'), knownForms, {})
  const store = await openLedger('sqlite::memory:')
  const connections = new Connections(lookup)
  const { handle } = createGateway(config, {
    ...knownForms,
    limiter: memoryLimiter(),
    verifiedKeys: memoryVerifiedKeys(verifiedKeyLifetimeMs),
    refusedAddresses: refusedAddresses(memoryVerifiedKeys(refusalLifetimeMs)),
    connections,
    pendingKeys: new PendingCreateKeys(),
    load: { level: 0 },
    processorShares: new ProcessorShares(fastClock(), () => 0),
    ledger: store.ledger,
    ledgerWaits: store.waits,
    timelines: new Timelines({ append: async () => {} }, () => {}),
    failedReads: new FailedReads({ note: async () => {} }),
    events: store.events,
    eventHub: new EventHub(store.events, store.watches, () => {}),
    createsInFlight: new CreatesInFlight(),
    deferredResults: new DeferredResults({ observe: () => {} }),
    suspensions: new Suspensions(store.suspensions, fastClock()),
    restoredLedger: new RestoredLedger(store.restores),
    restoredOrders: store.restores,
    swapActions: store.swapActions,
    watches: store.watches,
    currencyLists: store.currencyLists,
    budgets: unlimitedBudgets,
    winners: memoryWinners(() => performance.now(), winnerLifetimeMs),
    mirrorStatistics: new MirrorStatistics(),
    breaker: neverOpenBreaker,
    steadyClock: fastClock(),
    identification: () => async (key) => ({ identity: hashKey(key) }),
    observe: () => {},
    version: 'test',
    pages: () => pagesOf(openApiPages(forms)),
  })
  return {
    handle,
    async close() {
      await connections.close()
      await store.close()
      rmSync(folder, { recursive: true })
    },
  }
}

/** As a client of the form sends it, at the form's mount, with its credential. */
export function requestGateway(
  { handle }: Pick<Gateway, 'handle'>,
  form: FormName,
  { method, path, query, body }: Request,
): Promise<HttpResponse> {
  const headers = { ...credentials[form], ...(body !== '' && { 'content-type': 'application/json' }) }
  return handle({
    method,
    path: `/${form.toLowerCase()}/api/v2${path}`,
    query,
    headers,
    address: '192.0.2.1',
    body: async () => body,
  })
}
