import { describe, expect, test } from 'vitest'
import { type Gate, ops } from '../../domain/service.ts'
import { type AdmissionOptions, admission, type LedgerWaits, type Load, type LoadLevel, loadShedding } from './admission.ts'
import type { ClientLimits } from './limits.ts'

const nobodyLarge = { isLarge: () => false, hadLarge: false }
const caller = { address: '192.0.2.1', identity: 'acme' }

function gateWith(isShed: AdmissionOptions['isShed'], onConsume = () => {}): Gate {
  const consume: ClientLimits['consume'] = async () => {
    onConsume()
    return {}
  }
  const refusedAddresses = { has: async () => false, add: () => {} }
  return admission({
    limits: { consume, consumeUnverified: async () => ({}), mayVerify: async () => false },
    refusedAddresses,
    isShed,
  })
}

describe('X3: at load level', () => {
  test.each<[LoadLevel, readonly string[]]>([
    [0, []],
    [1, ['listCurrencies', 'getRate']],
    [2, ['listCurrencies', 'getRate', 'listTransactions', 'getTransaction']],
    [3, ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']],
  ])('%i these are refused: %j', async (level, refused) => {
    const load: Load = { level }
    let consumed = 0
    const gate = gateWith(
      loadShedding({
        load,
        processorShares: nobodyLarge,
        ledgerWaits: () => ({ readMs: 0, writeMs: 0 }),
        readsNeedLedger: true,
        clock: () => 0,
      }),
      () => void consumed++,
    )
    const admissions = await Promise.all(ops.map(async (op) => [op, (await gate(op, caller)).refusal] as const))
    const shed = admissions.filter(([, refusal]) => refusal)
    expect(shed.map(([op]) => op)).toEqual(refused)
    for (const [, refusal] of shed) expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 2 })
    expect(consumed).toBe(ops.length - refused.length)
  })
})

describe('L53: while requests wait for the ledger', () => {
  test.each<[string, LedgerWaits, boolean, readonly string[]]>([
    ['a little', { readMs: 499, writeMs: 499 }, true, []],
    ['by reads', { readMs: 500, writeMs: 0 }, true, ['listTransactions', 'getTransaction']],
    ['by reads that do not need it', { readMs: 999, writeMs: 0 }, false, []],
    ['by changes', { readMs: 0, writeMs: 500 }, true, ['createTransaction']],
    ['by all', { readMs: 500, writeMs: 500 }, true, ['createTransaction', 'listTransactions', 'getTransaction']],
  ])('%s (%j, managed: %s) these are refused: %j', async (_, ledgerWaits, isManaged, refused) => {
    const gate = gateWith(
      loadShedding({
        load: { level: 0 },
        processorShares: nobodyLarge,
        ledgerWaits: () => ledgerWaits,
        readsNeedLedger: isManaged,
        clock: () => 0,
      }),
    )
    const admissions = await Promise.all(ops.map(async (op) => [op, (await gate(op, caller)).refusal] as const))
    const shed = admissions.filter(([, refusal]) => refusal)
    expect(shed.map(([op]) => op)).toEqual(refused)
    for (const [, refusal] of shed) expect(refusal).toMatchObject({ reason: 'overloaded', retryAfter: 2 })
  })
})

describe('one caller among others', () => {
  const noisy = { address: '192.0.2.1', identity: 'noisy' }
  const others = Array.from({ length: 4 }, (_, at) => ({ address: '192.0.2.2', identity: `quiet-${at}` }))

  async function shedOf(level: LoadLevel) {
    const load = { level: 0 as LoadLevel }
    const isShed = loadShedding({
      load,
      processorShares: nobodyLarge,
      ledgerWaits: () => ({ readMs: 0, writeMs: 0 }),
      readsNeedLedger: true,
      clock: () => 0,
    })
    const gate = gateWith(isShed)
    load.level = level
    for (let time = 0; time < 20; time++) await gate('createTransaction', noisy)
    const shed = async (caller: typeof noisy) =>
      (await Promise.all(ops.map(async (op) => ((await gate(op, caller)).refusal ? [op] : [])))).flat()
    return { noisy: await shed(noisy), others: await Promise.all(others.map(shed)) }
  }

  test.each<[LoadLevel, readonly string[], readonly string[]]>([
    [1, ['listCurrencies', 'getRate'], []],
    [2, ['listCurrencies', 'getRate', 'listTransactions', 'getTransaction'], ['listCurrencies', 'getRate']],
    [3, ops, ops],
  ])('that sends most is shed before them: at load level %i %j, of theirs %j', async (level, ofNoisy, ofOthers) => {
    expect(await shedOf(level)).toEqual({ noisy: ofNoisy, others: others.map(() => ofOthers) })
  })

  test('that waits for the ledger is shed alone', async () => {
    const waitOf = (account: string): number => (account === 'noisy' ? 500 : 0)
    const ledgerWaits = (account: string): LedgerWaits => ({ readMs: waitOf(account), writeMs: waitOf(account) })
    const gate = gateWith(
      loadShedding({ load: { level: 0 }, processorShares: nobodyLarge, ledgerWaits, readsNeedLedger: true, clock: () => 0 }),
    )
    const refusals = await Promise.all(
      [noisy, ...others].map(async (caller) => (await gate('getTransaction', caller)).refusal?.reason),
    )
    expect(refusals).toEqual(['overloaded', ...others.map(() => undefined)])
  })
})

describe('an account that takes more than a fifth of the processor', () => {
  const large = { address: '192.0.2.1', identity: 'large' }
  const other = { address: '192.0.2.2', identity: 'other' }
  const noisy = { address: '192.0.2.3', identity: 'noisy' }

  test.each<[LoadLevel, readonly string[], readonly string[]]>([
    [0, [], []],
    [1, ['listCurrencies', 'getRate', 'listTransactions', 'getTransaction'], []],
    [2, ops, ['listCurrencies', 'getRate']],
    [3, ops, ops],
  ])('is refused before all others: at load level %i %j, of theirs %j', async (level, ofLarge, ofOthers) => {
    const load = { level: 0 as LoadLevel }
    const processorShares = { isLarge: (identity: string) => identity === 'large', hadLarge: true }
    const ledgerWaits = () => ({ readMs: 0, writeMs: 0 })
    const gate = gateWith(loadShedding({ load, processorShares, ledgerWaits, readsNeedLedger: true, clock: () => 0 }))
    load.level = level
    for (let time = 0; time < 20; time++) await gate('getTransaction', noisy)
    const shed = async (caller: typeof large) =>
      (await Promise.all(ops.map(async (op) => ((await gate(op, caller)).refusal ? [op] : [])))).flat()
    expect(await shed(large)).toEqual(ofLarge)
    for (const caller of [other, noisy]) expect(await shed(caller)).toEqual(ofOthers)
  })
})
