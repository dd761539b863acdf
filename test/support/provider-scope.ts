/** The scope of a provider `alpha` in managed mode, of which a test says only what it is about. */
import { createAssetNaming } from '../../src/core/assets/asset-naming.ts'
import type { CachedCurrencyList } from '../../src/core/assets/currency-list.ts'
import { KnownMaximums } from '../../src/core/assets/plausible-amounts.ts'
import { SequenceClock } from '../../src/core/clock.ts'
import { Freshness } from '../../src/core/freshness.ts'
import type { Ledger } from '../../src/core/ports/ledger.ts'
import type { ConfiguredProvider, ProviderScope } from '../../src/core/provider-scope.ts'
import { AssetTable } from '../../src/domain/asset.ts'
import { Confidential } from '../../src/domain/confidential.ts'
import { standardFault } from '../../src/domain/fault.ts'
import { keyed } from '../../src/domain/service.ts'
import { formA } from '../../src/forms/a.ts'

const table = new AssetTable([])

const configured: ConfiguredProvider = {
  account: 'alpha',
  listKey: '',
  rateLimit: { quotes: 60, create: 30, read: 120 },
  breaker: { consecutiveFailures: 5, baseEjectionTime: 30, maxEjectionTime: 300 },
  bulkhead: { maxConcurrentCalls: 128, maxPendingCalls: 4_096, maxWaitDuration: 1 },
  timezone: 'UTC',
  extraIds: true,
  networks: 'confirmed',
  addresses: 'checked',
  depositMemo: { networks: [], usesFlags: false, isConfigured: false },
  judge: { depositAddress: 'refuse', depositMemo: 'refuse', amount: 'refuse', contract: 'refuse', network: 'refuse' },
}

interface Overrides extends Partial<Omit<ProviderScope, 'ledger' | 'currencyList' | 'configured'>> {
  readonly ledger?: Ledger
  readonly currencyList?: Partial<CachedCurrencyList>
  readonly configured?: Partial<ConfiguredProvider>
}

/** Its clocks stand still at 0, and its ledger has no methods. */
export function providerScope(overrides: Overrides = {}): ProviderScope {
  const clock = overrides.clock ?? (() => 0)
  return {
    tag: 'alpha',
    state: 'active',
    timeoutMs: 10_000,
    mayHideAmountRange: false,
    capabilities: formA.capabilities,
    keyed,
    keyedRead: 'listTransactions',
    callsOf: (op) => [op],
    usesGatewayKey: true,
    clock,
    steadyClock: clock,
    random: () => 0,
    observe: () => {},
    timelines: { add: () => {} },
    failedReads: { note: () => {}, end: () => false },
    absentSwaps: { fault: async () => standardFault('notFound'), mayBeNamed: async () => undefined },
    judgeFirstDeposit: async () => undefined,
    createdHere: undefined,
    mayTakeBack: () => false,
    accountTags: ['alpha'],
    isRouted: true,
    isOneOfSeveral: false,
    maximums: new KnownMaximums(clock),
    quotedFirst: new Set(),
    offers: new Map(),
    isPersonal: () => false,
    clockSkewMs: () => 0,
    quoteTermsOf: () => '',
    isFailing: () => false,
    hasList: () => true,
    destination: { url: 'https://one.test', form: 'A', timezone: 'UTC', account: null, key: null },
    intentIdOf: () => crypto.randomUUID(),
    sequences: new SequenceClock(clock),
    table,
    cache: { rate: 2 },
    routing: { maxDeviation: 0.1, refuseDeviation: false, roundAmounts: 'refuse' },
    confidential: new Confidential({ keys: [], hosts: [], names: [] }),
    ledger: {} as Ledger,
    journal: overrides.ledger ?? ({} as Ledger),
    freshness: new Freshness({ refreshMs: 5_000, clock, steadyClock: clock }),
    pendingKeys: undefined,
    ...overrides,
    configured: { ...configured, ...overrides.configured },
    currencyList: currencyListOf(overrides),
  }
}

/** Without a list. */
function currencyListOf({ currencyList, table: own = table }: Overrides): CachedCurrencyList {
  const none = (): Promise<never> => Promise.reject(new Error('There is no list.'))
  return {
    naming: createAssetNaming(own, { byCode: true }, []),
    read: none,
    readAvailable: async () => undefined,
    readForCreate: none,
    last: () => undefined,
    loadStored: async () => {},
    close: () => {},
    ...currencyList,
  }
}
