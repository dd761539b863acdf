import { expect, it } from 'vitest'
import { providerStatus } from './provider-status.ts'

it('W20: a provider may have the name of a property that every object has', async () => {
  const provider = {
    tag: 'constructor',
    account: 'constructor',
    form: 'A',
    state: 'active',
    rateLimit: { quotes: 0, create: 0, read: 0 },
  } as const
  const settings = {
    providers: [
      { ...provider, name: 'constructor' },
      { ...provider, name: 'beta', tag: 'beta' },
    ],
    routing: { strategy: 'weighted', providers: ['beta'], weights: { beta: 1 } },
    redis: { url: '' },
  }
  const { providers } = await providerStatus(settings, {
    ledgerAdmin: { openCounts: async () => [] },
    overrides: { read: async () => [] },
    suspensions: { read: async () => [] },
    replicaFigures: { read: async () => [] },
  })
  expect(providers.map(({ weight }) => weight)).toEqual([null, 1])
})

it('W2: a tag that the file lacks is off, while something is open there', async () => {
  const settings = { providers: [], routing: { strategy: 'priority', providers: [] }, redis: { url: '' } }
  const { providers } = await providerStatus(settings, {
    ledgerAdmin: {
      openCounts: async () => [
        { provider: 'gone', state: 'done', status: 'exchanging', count: 2 },
        { provider: 'gone', state: 'unknown', count: 1 },
      ],
    },
    overrides: { read: async () => [] },
    suspensions: { read: async () => [] },
    replicaFigures: { read: async () => [] },
  })
  expect(providers).toEqual([
    {
      name: 'gone',
      tag: 'gone',
      form: null,
      state: 'off',
      since: null,
      override: null,
      isRouted: false,
      weight: null,
      open: { exchanging: 2 },
      openTransactions: 2,
      pendingCreates: 0,
      unknownCreates: 1,
      suspended: [],
      live: null,
    },
  ])
})
