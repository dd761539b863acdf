import { expect, it, onTestFinished } from 'vitest'
import { openLedger } from '../../adapters/ledger/index.ts'
import { type Config, readSettings } from '../../config/index.ts'
import { resetOverrides } from '../../core/operations/switching.ts'
import { knownForms } from '../../forms/index.ts'
import { ConfigurationInForce } from './configuration-in-force.ts'

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
  configuration.onChange(({ limits }) => applied.push(limits.quotes))
  held.gate = gate.promise
  const loading = configuration.load(withLimit(2))
  const closing = configuration.close()
  gate.resolve()
  await closing
  expect(applied).toEqual([2])
  await loading
  await configuration.load(withLimit(3))
  expect(applied).toEqual([2])
})

it('a reset of a provider makes a new gateway in every process once, without suspensions, though no setting changes', async () => {
  const stores = await openLedger('sqlite::memory:')
  onTestFinished(stores.close)
  const file = withLimit(1)
  const replicas = await Promise.all([1, 2].map(() => ConfigurationInForce.open(file, stores, () => {})))
  const applied: Config[] = []
  for (const { configuration } of replicas) configuration.onChange((config) => applied.push(config))
  const followAll = async () => {
    for (const { configuration } of replicas) await configuration.follow()
    return applied.length
  }
  expect(await followAll()).toBe(0)
  const ports = { file, overrides: stores.overrides, ledgerAdmin: stores.ledgerAdmin }
  expect(await resetOverrides(ports, { name: 'weights', force: false, actor: 'alice' })).toEqual({ outcome: 'done' })
  expect(await followAll()).toBe(0)
  expect(await resetOverrides(ports, { name: 'alpha', force: false, actor: 'alice' })).toEqual({ outcome: 'done' })
  expect(await followAll()).toBe(2)
  expect(await followAll()).toBe(2)
  expect(applied).toEqual([file, file])
})
