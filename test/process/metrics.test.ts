import { expect, it } from 'vitest'
import { createMetrics } from '../../src/adapters/metrics.ts'

const formOf = (tag: string): string | undefined => (tag === 'beta' ? 'B' : undefined)

async function swapgateLines(metrics: ReturnType<typeof createMetrics>): Promise<readonly string[]> {
  return (await metrics.print()).split('\n').filter((line) => /^swapgate_(?!provider_state)/.test(line))
}

it('counts what is observed, however often it is read', async () => {
  const metrics = createMetrics(formOf)
  metrics.observe({ what: 'drift', provider: 'beta', field: 'status', drift: 'unknownStatus' })
  metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
  metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
  metrics.observe({ what: 'derived', client: 'A', provider: undefined, field: 'rate' })
  metrics.observe({ what: 'rest', provider: 'beta', reason: 'limited' })
  metrics.observe({ what: 'heldBack', provider: 'beta', by: 'rest' })
  metrics.observe({ what: 'heldBack', provider: 'beta', by: 'rest' })
  metrics.observe({ what: 'retry', provider: 'beta', isMade: true })
  const lines = [
    'swapgate_contract_drift_total{provider="beta",field="status",drift="unknownStatus"} 1',
    'swapgate_answer_fields_total{what="omitted",client_form="A",provider_form="B",field="fee"} 2',
    'swapgate_answer_fields_total{what="derived",client_form="A",provider_form="none",field="rate"} 1',
    'swapgate_provider_rests_total{provider="beta",reason="limited"} 1',
    'swapgate_provider_held_back_total{provider="beta",by="rest"} 2',
    'swapgate_provider_retries_total{provider="beta",made="true"} 1',
    'swapgate_limits_local 0',
    'swapgate_limits_over_admitted_total 0',
  ]
  expect(await swapgateLines(metrics)).toEqual(lines)
  expect(await swapgateLines(metrics)).toEqual(lines)
})

it('says where the breaker of each provider stands', async () => {
  const metrics = createMetrics(formOf)
  const states = async (): Promise<readonly string[]> =>
    [...(await metrics.print()).matchAll(/^swapgate_provider_state\{provider="beta",state="(.*)"\} 1$/gm)].map(
      ([, state]) => state ?? '',
    )
  metrics.observe({ what: 'breaker', provider: 'beta', state: 'closed' })
  expect(await states()).toEqual(['closed'])
  metrics.observe({ what: 'breaker', provider: 'beta', state: 'open' })
  expect(await states()).toEqual(['open'])
})

it('tells where limits are counted, and what was let in beyond them', async () => {
  const metrics = createMetrics(formOf)
  metrics.observe({ what: 'limitStore', state: 'local' })
  metrics.observe({ what: 'overAdmission', count: 7 })
  metrics.observe({ what: 'shadowed', policy: 'read' })
  expect(await swapgateLines(metrics)).toEqual([
    'swapgate_limits_local 1',
    'swapgate_limit_store_changes_total{state="local"} 1',
    'swapgate_limits_shadowed_total{policy="read"} 1',
    'swapgate_limits_over_admitted_total 7',
  ])
  metrics.observe({ what: 'limitStore', state: 'settling' })
  expect(await swapgateLines(metrics)).toContain('swapgate_limits_local 0')
})

it('says of the process itself how it does', async () => {
  expect(await createMetrics(formOf).print()).toMatch(/^process_resident_memory_bytes \d+$/m)
})
