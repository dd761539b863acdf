import { expect, it } from 'vitest'
import { createMetrics } from '../../src/adapters/metrics.ts'

const formOf = new Map([['beta', 'B']])

async function swapgateLines(metrics: ReturnType<typeof createMetrics>): Promise<readonly string[]> {
  return (await metrics.print()).split('\n').filter((line) => line.startsWith('swapgate_'))
}

it('counts what is observed, however often it is read', async () => {
  const metrics = createMetrics(formOf)
  metrics.observe({ what: 'drift', provider: 'beta', field: 'status', drift: 'unknownStatus' })
  metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
  metrics.observe({ what: 'omitted', client: 'A', provider: 'beta', field: 'fee' })
  metrics.observe({ what: 'derived', client: 'A', provider: undefined, field: 'rate' })
  const lines = [
    'swapgate_contract_drift_total{provider="beta",field="status",drift="unknownStatus"} 1',
    'swapgate_answer_fields_total{what="omitted",client_form="A",provider_form="B",field="fee"} 2',
    'swapgate_answer_fields_total{what="derived",client_form="A",provider_form="none",field="rate"} 1',
  ]
  expect(await swapgateLines(metrics)).toEqual(lines)
  expect(await swapgateLines(metrics)).toEqual(lines)
})

it('says of the process itself how it does', async () => {
  expect(await createMetrics(formOf).print()).toMatch(/^process_resident_memory_bytes \d+$/m)
})
