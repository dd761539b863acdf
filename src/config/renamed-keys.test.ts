import { describe, expect, it } from 'vitest'
import { knownForms } from '../forms/index.ts'
import { type Config, ConfigError, type ConfigSettings, readSettings } from './index.ts'
import { renamedKeys } from './renamed-keys.ts'

type Keys = { readonly [key: string]: unknown }

const alpha = { form: 'A', url: 'http://127.0.0.1:9101/a/api/v2' }

type Given = readonly [path: string, value: unknown]

/** The keys with one more: a path, and the value there. */
function withKey(keys: Keys, path: string, value: unknown): Keys {
  const [name = '', ...others] = path.split('.')
  return { ...keys, [name]: others.length === 0 ? value : withKey((keys[name] ?? {}) as Keys, others.join('.'), value) }
}

function read(...given: Given[]): Config {
  const whole: Keys = { providers: { alpha }, routing: { providers: ['alpha'] } }
  const settings = given.reduce((keys: Keys, [path, value]) => withKey(keys, path, value), whole)
  return readSettings(settings as ConfigSettings, knownForms, {})
}

function faultsOf(...given: Given[]): readonly string[] {
  try {
    read(...given)
  } catch (reason) {
    if (reason instanceof ConfigError) return reason.faults.map(({ path, message }) => `${path}: ${message}`)
    throw reason
  }
  return []
}

const rateLimit = { quotes: 7, create: 30, read: 120 }

/** Of each key: its paths, and a value by both. */
const cases = [
  ['server.grace', 'server.shutdownDelay', 7, 7],
  ['ledger.refresh', 'ledger.refreshAfter', 7, 7],
  ['ledger.reconcile', 'ledger.reconcileFor', 7, 7],
  ['limits.unproven', 'limits.unverified', 7, 7],
  ['limits.shadow', 'limits.dryRun', true, true],
  ['limits.replicas', 'replicas', 7, 7],
  ['routing.shadow', 'routing.mirror', { provider: 'alpha', sample: 0.5 }, { provider: 'alpha', sample: 0.5 }],
  ['routing.patienceMs', 'routing.patience', 250, 0.25],
  ['providers.alpha.budget', 'providers.alpha.rateLimit', rateLimit, rateLimit],
  ['providers.alpha.extraIdNames.refund.ask', 'providers.alpha.extraIdNames.refund.request', 'memo', 'memo'],
  ['providers.alpha.extraIdNames.refund.answer', 'providers.alpha.extraIdNames.refund.response', 'memo', 'memo'],
] as const

it('each key with an earlier name is tested', () => {
  expect(cases.map(([from]) => from)).toEqual(
    renamedKeys.map(({ from }) => from.replace('providers.*', 'providers.alpha').replace('.*.', '.refund.')),
  )
})

describe.each(cases)('%s, now %s', (from, to, oldValue, newValue) => {
  it('has no warning by its new name', () => {
    expect(read([to, newValue]).warnings).toEqual([])
  })

  it('is read by its earlier name, with a warning that names the new one', () => {
    const { hash: _, warnings, ...ofOld } = read([from, oldValue])
    expect({ ...ofOld, hash: '', warnings: [] }).toEqual({ ...read([to, newValue]), hash: '' })
    expect({ ...ofOld, hash: '', warnings: [] }).not.toEqual({ ...read(), hash: '' })
    expect(warnings).toHaveLength(1)
    expect(warnings[0]).toContain(`${from} is now called ${to}`)
  })

  it('is a fault by both names', () => {
    expect(faultsOf([from, oldValue], [to, newValue])).toEqual([`${from}: is now called ${to}, which is also set: remove ${from}`])
  })

  it('has the faults of its value by the name in the file', () => {
    const [fault = '', ...others] = faultsOf([from, [[]]])
    expect(others).toEqual([])
    expect(fault).toMatch(/: must be /)
    // Of a name in `extraIdNames` the fault is the section's.
    expect(from.replace(/\.(?:ask|answer)$/, '')).toBe(fault.slice(0, fault.indexOf(':')))
  })
})

it('milliseconds by the earlier name are whole ones', () => {
  expect(faultsOf(['routing.patienceMs', 0.5])).toEqual(['routing.patienceMs: must be an integer from 0 to 60000'])
  expect(read(['routing.patienceMs', 1]).routing.patience).toBe(0.001)
})

it('a fault within a section has the name in the file', () => {
  expect(faultsOf(['routing.shadow', { provider: 'other', sample: 1 }])).toEqual(['routing.shadow.provider: is not in providers'])
  expect(faultsOf(['providers.alpha.budget', { reads: 1 }])).toEqual([
    'providers.alpha.budget.reads: is not a key of the configuration',
  ])
})

it('a name of a provider that may be a secret is in no warning', () => {
  const secret = 'sk-0123456789abcdef0123456789'
  const { warnings } = readSettings(
    { providers: { [secret]: { ...alpha, tag: 'a', budget: rateLimit } }, routing: { providers: [secret] } } as ConfigSettings,
    knownForms,
    {},
  )
  expect(warnings.join()).toContain('providers.<29 characters>.budget')
})
