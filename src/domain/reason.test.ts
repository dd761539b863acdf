import { expect, test } from 'vitest'
import { defaultReasons, Fault, faultKinds, reasons } from './fault.ts'

test.each(faultKinds)('a fault that is %s without an explicit reason has one from the list', (kind) => {
  expect(new Fault(kind, '').reason).toBe(defaultReasons[kind])
  expect(reasons).toContain(defaultReasons[kind])
})

test('an explicit reason stays, whatever is added to the fault', () => {
  const fault = new Fault('invalid', '', { reason: 'network_unknown' })
  expect(fault.reason).toBe('network_unknown')
  expect(fault.with({ field: 'networkFrom' })).toMatchObject({ reason: 'network_unknown', field: 'networkFrom' })
  expect(fault.with({ reason: 'refused' }).reason).toBe('refused')
})
