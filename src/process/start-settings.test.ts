import { describe, expect, it } from 'vitest'
import { type Config, type ConfigSettings, readSettings } from '../config/index.ts'
import { knownForms } from '../forms/index.ts'
import { needsRestart } from './start-settings.ts'

const providers = { alpha: { form: 'A', url: 'http://127.0.0.1:9101/a/api/v2' } }

function read(settings: ConfigSettings): Config {
  return readSettings({ providers, routing: { providers: ['alpha'] }, ...settings } as ConfigSettings, knownForms, {})
}

describe('a changed configuration', () => {
  it.each([
    ['server', { server: { drain: 3 } }],
    ['admin', { admin: { port: 9191 } }],
    ['redis', { redis: { prefix: 'other' } }],
    ['ledger', { ledger: { url: 'sqlite:other.db' } }],
    ['replicas', { replicas: 3 }],
    ['telemetry', { telemetry: { ratio: 0.5 } }],
    ['sandbox', { sandbox: { enabled: true } }],
  ])('needs a restart for %s', (section, settings) => {
    expect(needsRestart(read({}), read(settings as ConfigSettings))).toEqual([section])
  })

  it.each([
    ["an operator's token", { admin: { tokens: { alice: 'a'.repeat(48) } } }],
    ['what the page keeps', { admin: { keepSession: true } }],
    ['how long a read transaction is fresh', { ledger: { refreshAfter: 9 } }],
    ['how long a lost create is looked for', { ledger: { reconcileFor: 900 } }],
    ['a limit', { limits: { quotes: 7 } }],
  ])('needs none for %s', (_, settings) => {
    expect(needsRestart(read({}), read(settings as ConfigSettings))).toEqual([])
  })
})
