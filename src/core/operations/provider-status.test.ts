import { expect, it } from 'vitest'
import { providerStatus } from './provider-status.ts'

it('W20: a provider may have the name of a property that every object has', async () => {
  const provider = { tag: 'constructor', form: 'A', state: 'active', budget: { quotes: 0, create: 0, read: 0 } } as const
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
    replicaFigures: { read: async () => [] },
  })
  expect(providers.map(({ weight }) => weight)).toEqual([null, 1])
})
