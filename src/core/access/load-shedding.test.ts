import { describe, expect, test } from 'vitest'
import type { Gate } from '../../domain/swap/gate.ts'
import { type Op, ops } from '../../domain/swap/operations.ts'
import { admission } from './admission.ts'
import type { ClientLimits } from './limits.ts'
import { type LedgerWaits, type Load, type LoadLevel, loadShedding } from './load-shedding.ts'

const caller = { address: '192.0.2.1', identity: 'acme' }

function gateWith(isShed: (op: Op) => boolean, onCharge = () => {}): Gate {
  const charge: ClientLimits['charge'] = async () => {
    onCharge()
    return {}
  }
  const refusedAddresses = { has: async () => false, add: () => {} }
  return admission({ limits: { charge, chargeUnverified: async () => ({}) }, refusedAddresses, isShed })
}

describe('X3: at load level', () => {
  test.each<[LoadLevel, readonly string[]]>([
    [0, []],
    [1, ['listCurrencies', 'getRate']],
    [2, ['listCurrencies', 'getRate', 'listTransactions', 'getTransaction']],
    [3, ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']],
  ])('%i these are refused: %j', async (level, refused) => {
    const load: Load = { level }
    let charged = 0
    const gate = gateWith(
      loadShedding({ load, ledgerWaits: () => ({ readMs: 0, writeMs: 0 }), readsNeedLedger: true }),
      () => void charged++,
    )
    const admissions = await Promise.all(ops.map(async (op) => [op, (await gate(op, caller)).refusal] as const))
    const shed = admissions.filter(([, refusal]) => refusal)
    expect(shed.map(([op]) => op)).toEqual(refused)
    for (const [, refusal] of shed) expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 2 })
    expect(charged).toBe(ops.length - refused.length)
  })
})

describe('L53: while requests wait for the ledger', () => {
  test.each<[string, LedgerWaits, boolean, readonly string[]]>([
    ['a little', { readMs: 400, writeMs: 900 }, true, []],
    ['by reads', { readMs: 500, writeMs: 0 }, true, ['listTransactions', 'getTransaction']],
    ['by reads that do not need it', { readMs: 999, writeMs: 0 }, false, []],
    ['by changes', { readMs: 0, writeMs: 1_000 }, true, ['createTransaction']],
    ['by all', { readMs: 1_000, writeMs: 0 }, true, ['createTransaction', 'listTransactions', 'getTransaction']],
  ])('%s (%j, managed: %s) these are refused: %j', async (_, ledgerWaits, isManaged, refused) => {
    const gate = gateWith(loadShedding({ load: { level: 0 }, ledgerWaits: () => ledgerWaits, readsNeedLedger: isManaged }))
    const admissions = await Promise.all(ops.map(async (op) => [op, (await gate(op, caller)).refusal] as const))
    const shed = admissions.filter(([, refusal]) => refusal)
    expect(shed.map(([op]) => op)).toEqual(refused)
    for (const [, refusal] of shed) expect(refusal).toMatchObject({ reason: 'overloaded', retryAfter: 2 })
  })
})
