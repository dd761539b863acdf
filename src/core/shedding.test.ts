import { describe, expect, test } from 'vitest'
import { ops } from '../domain/operations.ts'
import { type Load, type Strain, shedding } from './shedding.ts'

const caller = { address: '192.0.2.1' }

describe('X3: with strain', () => {
  test.each<[Strain, readonly string[]]>([
    [0, []],
    [1, ['listCurrencies', 'getRate']],
    [2, ['listCurrencies', 'getRate', 'listTransactions', 'getTransaction']],
    [3, ['listCurrencies', 'getRate', 'createTransaction', 'listTransactions', 'getTransaction']],
  ])('%i these are refused: %j', async (strain, refused) => {
    const load: Load = { strain }
    let charged = 0
    const gate = shedding(load, async () => {
      charged++
      return {}
    })
    const answers = await Promise.all(ops.map(async (op) => [op, (await gate(op, caller)).refusal] as const))
    const shed = answers.filter(([, refusal]) => refusal)
    expect(shed.map(([op]) => op)).toEqual(refused)
    for (const [, refusal] of shed) expect(refusal).toMatchObject({ kind: 'unavailable', retryAfter: 2 })
    expect(charged).toBe(ops.length - refused.length)
  })
})
