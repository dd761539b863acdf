import { expect, it, onTestFinished } from 'vitest'
import { type Config, readSettings } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { openLedger } from '../ledger/index.ts'
import { ConfigurationInForce } from './in-force.ts'
import type { RunningGateway } from './running-gateway.ts'

function withLimit(quotes: number): Config {
  const providers = { alpha: { form: 'A', url: 'http://127.0.0.1:9/api/v2' } }
  return readSettings({ providers, routing: { providers: ['alpha'] }, limits: { quotes } }, knownForms, {})
}

it('a reload under way is applied before the configuration is closed, and a later one is not', async () => {
  const stores = await openLedger('sqlite::memory:')
  onTestFinished(stores.close)
  const gate = Promise.withResolvers<void>()
  const held = { gate: Promise.resolve() }
  const overrides = { ...stores.overrides, readAll: () => held.gate.then(stores.overrides.readAll) }
  const { configuration } = await ConfigurationInForce.open(withLimit(1), { ...stores, overrides }, () => {})
  const applied: number[] = []
  configuration.run(({ limits }) => {
    applied.push(limits.quotes)
    return { retire: () => {} } as RunningGateway
  })
  held.gate = gate.promise
  const loading = configuration.load(withLimit(2))
  const closing = configuration.close()
  gate.resolve()
  await closing
  expect(applied).toEqual([1, 2])
  await loading
  await configuration.load(withLimit(3))
  expect(applied).toEqual([1, 2])
})
