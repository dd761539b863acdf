/** What a provider's form is besides its exchanges, from the provider's documentation. */
import type { ProviderPromises } from './check.ts'

const sent = ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']
const none = { networks: {}, assets: {}, depositMemo: [], settings: [] } as const

/** By the folder of its goldens. */
export const providerPromises = {
  exolix: {
    name: 'exolix',
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 100,
    keyed: sent,
    ...none,
    depositMemo: ['XLM', 'XRP'],
    networks: { byName: { POLYGON: 'MATIC', ZKSYNC: 'ZKSYNCERA' } },
  },
  changenow: {
    ...none,
    name: 'changenow',
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 99,
    keyed: sent.slice(1),
    depositMemo: ['XLM', 'XRP'],
    networks: {
      byName: { AVAXC: { home: 'cchain', others: 'avaxc' }, MONAD: 'mon', OPTIMISM: 'op', PLS: 'pulse', POLYGON: 'matic' },
    },
  },
  stealthex: {
    ...none,
    name: 'stealthex',
    newestFirst: false,
    hasExpectedAmount: true,
    pageSize: 250,
    keyed: ['listCurrencies', 'getRate', 'createTransaction', 'getTransaction'],
    depositMemo: ['XLM', 'XRP'],
    networks: { home: 'mainnet', byName: { POLYGON: 'matic' } },
  },
} as const satisfies Readonly<Record<string, ProviderPromises>>
