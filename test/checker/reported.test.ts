/** The checker on swaps that no create of a test made, and on what providers report. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { violations } from './checker.ts'
import type { Evidence } from './evidence.ts'
import type { Journal, Received } from './provider/journal.ts'
import { create, entries, get, globex, ordered, reportedSwap, swap, whole } from './samples.ts'

const old = { ...swap, id: 'tx-old', depositAddress: 'deposit-old', depositExtraId: 'memo-old' }
const held: Journal = [...entries(), { what: 'held', swap: old }]
const ofOld = JSON.stringify({ id: 'alpha~tx-old', depositAddress: 'deposit-old', depositExtraId: 'memo-old' })
const row = { id: 'alpha~tx-old', owner: '2' }
const listed = { client: 'globex', listed: new Set(['alpha~tx-old']), got: new Set(['alpha~tx-old']) }

/** The provider responds to a read with this key. */
function shown(key: string, text: string): Journal {
  const headers = { 'x-api-key': key }
  const received: Received = {
    what: 'received',
    at: 2,
    request: 7,
    operation: 'get',
    path: '/transactions/tx-1',
    headers,
    body: '',
  }
  return [received, { what: 'responded', request: 7, ending: 200, text }]
}

const secrets = { clientKeys: [], providerKeys: {}, logs: [] }
const globexHolds: Partial<Evidence> = { holdings: [...(whole.holdings ?? []), listed], exported: [...(whole.exported ?? []), row] }

describe('there is no violation', () => {
  const fine: readonly (readonly [string, Partial<Evidence>])[] = [
    ['of an earlier swap that was reported to no client', { journals: { alpha: held } }],
    [
      'of one that was given to a client by hand',
      {
        journals: { alpha: held },
        operations: [create(), get('globex', ofOld)],
        assignedByHand: [{ id: 'alpha~tx-old', client: 'globex' }],
        ...globexHolds,
      },
    ],
    [
      'of a swap that changed, reported as it is now',
      {
        journals: { alpha: [...entries(), { what: 'held', swap: { ...swap, amountTo: '17' } }] },
        operations: [create(), get('acme', '{"id":"alpha~tx-1","amountTo":17}')],
      },
    ],
    [
      "of what a provider shows to the client's own key",
      {
        journals: { alpha: [...entries(), ...shown('globex', '{"id":"tx-1","depositAddress":"deposit-alpha-1"}')] },
        operations: [create(), get('globex', '{"id":"alpha~tx-1"}')],
        secrets,
      },
    ],
    ...['7', '{}', '{"toString":1}', 'null', '["tx-1"]'].map((id): [string, Partial<Evidence>] => [
      `of the id ${id} in a response of a provider, which is no text`,
      { journals: { alpha: [...entries(), ...shown('globex', `{"id":${id}}`)] }, secrets },
    ]),
    [
      'of two creates of two clients that differ by their marks',
      {
        journals: { alpha: entries().map((entry) => (entry.what === 'responded' ? entry : { ...entry, mark: 'first' })) },
        operations: [create({ mark: 'first' }), create({ ...globex, order: ordered, mark: 'second', outcome: 'fail', text: '' })],
      },
    ],
  ]
  it.each(fine)('%s', (_, facts) => {
    expect(violations({ ...whole, ...facts })).toEqual([])
  })
})

it('a provider may report any value of any field', () => {
  const field = fc.constantFrom(...Object.keys(reportedSwap))
  fc.assert(
    fc.property(field, fc.jsonValue({ maxDepth: 2 }), (name, value) => {
      const reported = JSON.stringify({ ...reportedSwap, id: 'tx-1', [name]: value })
      violations({ ...whole, journals: { alpha: [...entries(), ...shown('acme', reported)] }, secrets })
    }),
    { numRuns: 300 },
  )
})

describe('noticed', () => {
  const wrong: readonly (readonly [string, Partial<Evidence>, string])[] = [
    [
      'I3: a swap that was there before',
      { journals: { alpha: held }, operations: [create(), get('globex', ofOld)], ...globexHolds },
      "I3: a get returned to globex alpha~tx-old, which is no client's",
    ],
    [
      'I3: what a provider showed to another key',
      {
        journals: { alpha: [...entries(), ...shown('initech', '{"id":"tx-1"}')] },
        operations: [create(), get('globex', '{"id":"alpha~tx-1"}')],
      },
      "I3: a get returned to globex alpha~tx-1, which is acme's",
    ],
    [
      'I3: the id of a create that has the same address, and another mark',
      {
        journals: { alpha: entries().map((entry) => (entry.what === 'responded' ? entry : { ...entry, mark: 'first' })) },
        operations: [create({ mark: 'first' }), create({ client: 'globex', mark: 'second' })],
      },
      "I3: a create returned to globex alpha~tx-1, which is acme's",
    ],
    [
      'I1: an effect whose mark no client made',
      { journals: { alpha: entries().map((entry) => (entry.what === 'applied' ? { ...entry, mark: 'no-client' } : entry)) } },
      'I1: alpha~tx-1 for no-client, where 0 could be',
    ],
    [
      'I2: a row that is missing, though the provider reports the swap to its creator',
      {
        journals: { alpha: [...entries(), ...shown('acme', '{"id":"tx-1"}')] },
        exported: [],
      },
      'I2: alpha~tx-1 was given to acme, and the ledger has it 0 times',
    ],
    ['I2: a ledger that cannot be read', { unreadable: 'gone' }, 'I2: the ledger cannot be read: gone'],
    [
      'I2: two effects where one is unsettled',
      {
        journals: { alpha: [...entries(), ...entries({ request: 2, facts: { id: 'tx-2' } })] },
        operations: [create({ outcome: 'info', text: '' }), create({ idempotencyKey: 'two', outcome: 'info', text: '' })],
        holdings: [],
        exported: [],
        unresolvedAddresses: ['TAcme1'],
      },
      'I2: alpha~tx-2 was created, and no client or row has it',
    ],
    [
      'I6: a second provider after a refusal without a word',
      {
        journals: {
          beta: entries({ provider: 'beta', facts: null, ending: 400 }).map((entry) =>
            entry.what === 'responded' ? { ...entry, text: '<html>' } : entry,
          ),
          alpha: entries({ at: 2 }),
        },
        operations: [create({ outcome: 'info' }), create()],
      },
      'I6: TAcme1 went to alpha after its outcome at beta was open',
    ],
    [
      'I11: another address of a swap that was there before',
      {
        journals: { alpha: held },
        operations: [create(), get('acme', JSON.stringify({ ...reportedSwap, id: 'alpha~tx-old', depositAddress: 'thief' }))],
      },
      'I11: acme received for alpha~tx-old the address thief, memo memo-alpha-1; true is deposit-old, memo memo-old',
    ],
    [
      'I11: the address that a second create under the id was given',
      {
        journals: { alpha: [...entries(), ...entries({ request: 2, facts: { depositAddress: 'later' } })] },
        operations: [create(), get('acme', JSON.stringify({ ...reportedSwap, depositAddress: 'later' }))],
      },
      'I11: acme received for alpha~tx-1 the address later',
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
