import { describe, expect, it } from 'vitest'
import { digits } from '../support/json.ts'
import { assets } from '../support/swaps.ts'
import { violations } from './checker.ts'
import { decimal } from './decimal.ts'
import type { Evidence } from './evidence.ts'
import { create, entries, get, globex, holds, ordered, reportedSwap, second, whole } from './samples.ts'

describe('there is no violation', () => {
  const fine: readonly (readonly [string, Partial<Evidence>])[] = [
    ['of a create that all agree on', {}],
    [
      'of a create that was reported to no client and is unresolved',
      { operations: [create({ outcome: 'info' })], holdings: holds(), unresolvedAddresses: ['TAcme1'] },
    ],
    ['of a create that was replayed', { operations: [create({ outcome: 'info' }), create()] }],
    [
      'of two creates without a key',
      {
        journals: { alpha: [...entries(), ...second] },
        operations: [create(), create()].map(({ idempotencyKey: _, ...rest }) => rest),
        holdings: holds('alpha~tx-1', 'alpha~tx-2'),
      },
    ],
    [
      'of a refusal and a second try elsewhere',
      {
        journals: { beta: entries({ provider: 'beta', facts: null, ending: 429 }), alpha: entries({ at: 2 }) },
        operations: [create({ outcome: 'fail' }), create()],
      },
    ],
    [
      'of an address that two clients share',
      {
        journals: { alpha: [...entries(), ...second] },
        operations: [
          create(),
          create({ client: 'globex' }, JSON.stringify({ ...reportedSwap, id: 'alpha~tx-2', depositAddress: 'deposit-alpha-2' })),
        ],
        holdings: holds('alpha~tx-1'),
        exported: [
          { id: 'alpha~tx-1', owner: '1' },
          { id: 'alpha~tx-2', owner: '2' },
        ],
        unresolvedAddresses: ['TAcme1'],
      },
    ],
  ]
  it.each(fine)('%s', (_, facts) => {
    expect(violations({ ...whole, ...facts })).toEqual([])
  })
})

describe('noticed', () => {
  const wrong: readonly (readonly [string, Partial<Evidence>, string])[] = [
    [
      'I1: two effects of one key',
      { journals: { alpha: [...entries(), ...second] } },
      'I1: alpha~tx-1, alpha~tx-2 for TAcme1, where 1 could be',
    ],
    [
      'I1: effects of one key at two providers',
      { journals: { alpha: entries(), beta: entries() } },
      'I1: alpha~tx-1, beta~tx-1 for TAcme1, where 1 could be',
    ],
    ['I1: an effect of what failed', { operations: [create({ outcome: 'fail' })] }, 'I1: alpha~tx-1 for TAcme1, where 0 could be'],
    [
      'I1: two responses for one key',
      { operations: [create(), create({}, JSON.stringify({ ...reportedSwap, id: 'alpha~tx-2' }))] },
      'I1: acme received alpha~tx-1 and alpha~tx-2 for one idempotency key',
    ],
    [
      'I2: not in the list',
      { holdings: [{ client: 'acme', listed: new Set(), got: new Set([reportedSwap.id]) }] },
      'I2: alpha~tx-1 was given to acme and is not in its list',
    ],
    [
      'I2: not to be got',
      { holdings: [{ client: 'acme', listed: new Set([reportedSwap.id]), got: new Set() }] },
      'I2: alpha~tx-1 was given to acme, which cannot get it',
    ],
    [
      'I2: forgotten',
      { operations: [create({ outcome: 'info' })], holdings: holds() },
      'I2: alpha~tx-1 was created, and no client or row has it',
    ],
    [
      'I2: in the hands of another',
      {
        operations: [create({ outcome: 'info' })],
        holdings: [{ client: 'globex', listed: new Set([reportedSwap.id]), got: new Set() }],
      },
      'I2: alpha~tx-1 was created, and no client or row has it',
    ],
    [
      'I3: an id',
      { operations: [create(), globex, get('globex', '{"id":"alpha~tx-1"}')] },
      "I3: a get returned to globex alpha~tx-1, which is acme's",
    ],
    [
      'I3: an address',
      { operations: [create(), get('globex', '{"message":"Nothing at deposit-alpha-1."}')] },
      "I3: a get returned to globex deposit-alpha-1, which is acme's",
    ],
    [
      'I3: a memo',
      { operations: [create(), get('globex', '{"memo":"memo-alpha-1"}')] },
      "I3: a get returned to globex memo-alpha-1, which is acme's",
    ],
    [
      'I3: an address to refund to',
      { operations: [create(), get('globex', '{"to":"rAcme1"}')] },
      "I3: a get returned to globex rAcme1, which is acme's",
    ],
    [
      'I3: an amount',
      { operations: [create(), get('globex', '{"amount":18050522.000000011}')] },
      "I3: a get returned to globex 18050522.000000011, which is acme's",
    ],
    [
      'I3: an id that was given twice stays with the first',
      {
        journals: { alpha: [...entries(), ...entries({ request: 2, facts: { withdrawalAddress: 'TGlobex1' } })] },
        operations: [create(), { ...globex, outcome: 'ok' }],
      },
      "I3: a create returned to globex alpha~tx-1, which is acme's",
    ],
    [
      'I4: another network',
      { journals: { alpha: entries({ facts: { to: assets.usdtEth } }) } },
      'I4: alpha~tx-1 is what no client requested',
    ],
    [
      'I4: a memo that was dropped',
      { operations: [create({ order: { ...ordered, withdrawalExtraId: '77' } })] },
      'I4: alpha~tx-1 is what no client requested',
    ],
    [
      'I4: another amount',
      { journals: { alpha: entries({ facts: { amount: '10.51' } }) } },
      'I4: alpha~tx-1 is what no client requested',
    ],
    [
      'I5: another amount',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, amountTo: digits('18050522') }))] },
      'I5: acme received another amountTo of alpha~tx-1',
    ],
    [
      'I5: another coin',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, coinTo: 'USDTERC20' }))] },
      'I5: acme received another coinTo of alpha~tx-1',
    ],
    [
      'I5: another address to pay out to',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, withdrawalAddress: 'TThief' }))] },
      'I5: acme received another withdrawalAddress of alpha~tx-1',
    ],
    [
      'I5: another type of rate',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, rateType: 'fixed' }))] },
      'I5: acme received another rateType of alpha~tx-1',
    ],
    [
      'I6: a second provider after an open outcome',
      {
        journals: { beta: entries({ provider: 'beta', facts: null, ending: 'reset' }), alpha: entries({ at: 2 }) },
        operations: [create({ outcome: 'info' }), create()],
      },
      'I6: TAcme1 went to alpha after its outcome at beta was open',
    ],
    [
      'I6: a create that was sent twice',
      { journals: { alpha: [...entries({ facts: null, ending: 429 }), ...entries({ request: 2 })] } },
      'I6: 2 creates for TAcme1 were sent, and 1 requested',
    ],
    [
      'I8: a client key at a provider',
      { secrets: { clientKeys: ['TAcme1'], providerKeys: {}, logs: [] } },
      'I8: a request to alpha has TAcme1',
    ],
    ["I8: another provider's key", { journals: { alpha: [], beta: entries() } }, 'I8: a request to beta has provider-key-alpha'],
    [
      'I8: a key in a response',
      { operations: [create(), get('acme', '{"message":"not provider-key-beta"}')] },
      'I8: what a get returned to acme has provider-key-beta',
    ],
    [
      'I8: an address in a log',
      { secrets: { clientKeys: [], providerKeys: { alpha: 'provider-key-alpha' }, logs: ['to deposit-alpha-1'] } },
      'I8: a log has deposit-alpha-1',
    ],
    [
      'I11: another address',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, depositAddress: 'rThief' }))] },
      'I11: acme received for alpha~tx-1 the address rThief',
    ],
    [
      'I11: no memo',
      { operations: [create({}, JSON.stringify({ ...reportedSwap, depositExtraId: undefined }))] },
      'I11: acme received for alpha~tx-1 the address deposit-alpha-1, memo undefined',
    ],
    [
      'I11: an id from nowhere',
      { operations: [get('acme', '{"id":"alpha~tx-9"}')] },
      'I11: acme received alpha~tx-9, which no provider gave',
    ],
  ]
  it.each(wrong)('%s', (_, facts, line) => {
    const found = violations({ ...whole, ...facts })
    expect(
      found.some((violation) => violation.startsWith(line)),
      found.join('\n'),
    ).toBe(true)
  })
})

it.each([
  ['1.10', '1.1', true],
  ['11e-1', '1.1', true],
  ['100', '1e2', true],
  ['0.0', '0', true],
  ['1.1', '11', false],
  ['9007199254740993', '9007199254740992', false],
])('%s and %s are the same value: %s', (a, b, isSame) => {
  expect(decimal(a) === decimal(b)).toBe(isSame)
})
