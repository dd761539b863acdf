/** docs/contract.md §16, docs/contract-operators.md §15: a provider reports that a swap failed, or that a check holds it. */
import { afterEach, describe, expect, test } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'
import { expectRefusal } from '../support/expectations.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { lookNow, loseResponses } from '../support/outcomes.ts'
import { type FormName, formNames } from '../support/pair.ts'
import { startPassthrough } from '../support/passthrough.ts'
import { swap } from '../support/swaps.ts'

const statuses = { broken: 'failed', frozen: 'held', closed: 'refunded' }
const providerOf = { A: 'alpha', B: 'beta' } as const
const ledger = { refreshAfter: 0 }
let managed: Managed
let key: string
let id: string

type ProviderForm = FormName
type Settings = NonNullable<Parameters<typeof startManaged>[0]>

async function start(provider: ProviderForm = 'A', words: object = statuses, settings: Settings = {}): Promise<void> {
  const name = providerOf[provider]
  managed = await startManaged({ routing: [name], sections: { ledger }, providers: { [name]: { statuses: words } }, ...settings })
  key = await managed.issue('acme')
  id = (await post('A')).id
}
const post = async (form: FormName): Promise<{ id: string }> =>
  (await managed.client(form).post('/transactions', orderIn(form), { key })).json as { id: string }
const become = (status: string, form: ProviderForm = 'A'): void => {
  const { holdings } = managed[providerOf[form]]
  holdings.swaps = holdings.swaps.map((held) => ({ ...held, status }))
}
const get = (form: FormName = 'A', of = id): Promise<ReceivedResponse> => managed.client(form).get(`/transactions/${of}`, { key })
const readState = async (form: FormName = 'A') => {
  const { status, json, headers, text } = await get(form)
  expect(status, text).toBe(200)
  const { status: word, attention } = json as Row
  expect(headers['x-swap-attention']).toBe(attention)
  return [word, attention]
}
interface Row {
  readonly status: string
  readonly attention?: string
}
const listedRows = async (form: FormName = 'A') => {
  const { json, headers } = await managed.client(form).get('/transactions', { key })
  expect(headers).not.toHaveProperty('x-swap-attention')
  return (json as { data: Row[] }).data.map(({ status, attention }) => [status, attention])
}
const listed = async (form: FormName = 'A') => (await listedRows(form)).map(([status]) => status)
const waiting = async () =>
  (await managed.gateway.ledgerAdmin.needPerson()).map(({ entry: { transaction } }) => [transaction.id, transaction.attention])
const settle = (status: 'success' | 'refunded' | 'overdue') =>
  managed.gateway.ledgerAdmin.settle('alpha', id.slice('alpha~'.length), { status, note: 'found out', at: Date.now() }, 'alice')

afterEach(() => managed.close())

describe.each(formNames)('a provider of form %s', (provider) => {
  test.each(formNames)('W11: a client of form %s gets the last known status and what it must not miss', async (client) => {
    await start(provider)
    become('confirmation', provider)
    expect(await readState(client)).toEqual(['confirmation', undefined])
    become('broken', provider)
    expect(await readState(client)).toEqual(['confirmation', 'failed'])
    expect(await listedRows(client)).toEqual([['confirmation', 'failed']])
    become('frozen', provider)
    expect(await readState(client)).toEqual(['exchanging', 'held'])
    expect(await listedRows(client)).toEqual([['exchanging', 'held']])
    expect(await waiting()).toEqual([[id.split('~')[1], 'held']])
    become('refunded', provider)
    expect(await readState(client)).toEqual(['refunded', undefined])
    expect(await waiting()).toEqual([])
  })

  test('W11: it needs a person until there is an end, whatever the provider reports between', async () => {
    await start(provider)
    become('broken', provider)
    // Form B has the hash of the deposit: it was seen.
    expect(await readState()).toEqual([provider === 'A' ? 'wait' : 'confirmation', 'failed'])
    become('exchanging', provider)
    expect(await readState()).toEqual(['exchanging', 'failed'])
    become('a word of its own', provider)
    expect(await readState()).toEqual(['exchanging', 'failed'])
    expect(await waiting()).toHaveLength(1)
    become('success', provider)
    expect(await readState()).toEqual(['success', undefined])
  })
})

test.each(formNames)('W11: what was held ends as soon as a provider of form %s goes on', async (provider) => {
  await start(provider)
  become('frozen', provider)
  expect(await readState()).toEqual(['exchanging', 'held'])
  become('a word of its own', provider)
  expect(await readState()).toEqual(['exchanging', 'held'])
  expect(await waiting()).toHaveLength(1)
  become('exchanging', provider)
  expect(await readState()).toEqual(['exchanging', undefined])
  expect(await listedRows()).toEqual([['exchanging', undefined]])
  expect(await waiting()).toEqual([])
})

test.each(formNames)(
  'W11: a word that no table has is told, in a get and a list, until form %s has one that is known',
  async (provider) => {
    await start(provider)
    become('confirmation', provider)
    await get()
    become('a word of its own', provider)
    expect(await readState('A')).toEqual(['confirmation', 'unknown_status'])
    expect(await listedRows('B')).toEqual([['confirmation', 'unknown_status']])
    expect(await waiting()).toEqual([[id.split('~')[1], 'unknown_status']])
    become('exchanging', provider)
    expect(await readState('B')).toEqual(['exchanging', undefined])
    expect(await waiting()).toEqual([])
  },
)

test('W11: a status never goes back: what is sent stays sending while it is held', async () => {
  await start()
  become('sending')
  expect(await readState()).toEqual(['sending', undefined])
  become('frozen')
  expect(await readState()).toEqual(['sending', 'held'])
  become('success')
  await get()
  become('broken')
  expect(await readState()).toEqual(['success', undefined])
  expect(await waiting()).toEqual([])
})

test('W11: a provider that cannot be read now, or is off, leaves the last known state with its header', async () => {
  await start()
  become('broken')
  await get()
  for (let call = 0; call < 3; call++) managed.alpha.reply('get', { reset: true })
  const stale = await get('B')
  expect([stale.status, stale.headers['x-swap-attention']]).toEqual([200, 'failed'])
  expect(stale.headers).toHaveProperty('x-swap-stale')
  managed.reconfigure({ routing: ['alpha', 'beta'], sections: { ledger }, providers: { alpha: { statuses, state: 'off' } } })
  expect((await get()).headers).toMatchObject({ 'x-swap-attention': 'failed', 'x-swap-stale': expect.any(String) })
})

test.each(['success', 'refunded', 'overdue'] as const)(
  'W12: settled as %s, the client gets that, though the provider still reports the failure',
  async (status) => {
    await start()
    become('broken')
    await get()
    expect(await settle(status)).toBe('settled')
    for (const word of ['broken', 'frozen', 'exchanging', 'broken']) {
      become(word)
      expect(await readState()).toEqual([status, undefined])
      expect(await listed()).toEqual([status])
    }
    expect(await waiting()).toEqual([])
    expect(await managed.gateway.ledgerAdmin.openCounts()).toEqual([])
    expect(await settle('success')).toBe('unneeded')
  },
)

test('W12: reads that are under way while it is settled change nothing', async () => {
  await start()
  become('broken')
  await get()
  const reads = Array.from({ length: 10 }, () => get())
  await settle('overdue')
  await Promise.all(reads)
  expect(await readState()).toEqual(['overdue', undefined])
  expect(await waiting()).toEqual([])
})

test('W12: a settled overdue ends by what the provider reports at last', async () => {
  await start()
  become('broken')
  await get()
  await settle('overdue')
  become('success')
  expect(await readState()).toEqual(['success', undefined])
})

test('W13: a reload that changes the words changes what the next read means', async () => {
  await start('A', {})
  become('broken')
  expect(await readState()).toEqual(['wait', 'unknown_status'])
  const reload = (words: object) =>
    managed.reconfigure({ routing: ['alpha'], sections: { ledger }, providers: { alpha: { statuses: words } } })
  reload({ broken: 'failed' })
  expect(await readState()).toEqual(['wait', 'failed'])
  reload({})
  expect(await readState()).toEqual(['wait', 'failed'])
  reload({ broken: 'held' })
  expect(await readState()).toEqual(['exchanging', 'held'])
  reload({ broken: 'refunded' })
  expect(await readState()).toEqual(['refunded', undefined])
})

test('W14: the gateway finds it out by itself at a draining provider, where it is open until it is settled', async () => {
  await start('A', statuses, { steadyClock: () => performance.now() })
  const providers = { alpha: { statuses, state: 'draining' } }
  managed.reconfigure({ routing: ['alpha', 'beta'], sections: { ledger }, providers })
  become('broken')
  await managed.gateway.pollTransactions()
  expect(await waiting()).toHaveLength(1)
  expect(await managed.gateway.ledgerAdmin.openCounts()).toEqual([{ provider: 'alpha', state: 'done', status: 'wait', count: 1 }])
  await settle('refunded')
  expect(await managed.gateway.ledgerAdmin.openCounts()).toEqual([])
})

test('W11: a lost create that is found failed is kept, and its key says not to pay', async () => {
  await start()
  loseResponses(managed.alpha)
  const headers = { 'idempotency-key': 'once' }
  const create = () => managed.client('A').post('/transactions', orderIn('A'), { key, headers })
  expectRefusal(await create(), 'A', 504)
  become('broken')
  await lookNow(managed.gateway)
  const again = await create()
  expect(expectRefusal(again, 'A', 502)).toContain('do not pay')
  expect(again.headers).toMatchObject({ 'x-swap-reason': 'mismatch', 'idempotent-replayed': 'true' })
  expect(await waiting()).toEqual([['lost-2', 'failed']])
})

describe('passthrough', () => {
  test.each(formNames)('W15: a client of form %s gets the header, and nothing needs a person here', async (form) => {
    await start()
    await using place = await startPassthrough('alpha')
    place.reconfigure({ ledger }, { statuses })
    const own = `own-key-${form}`
    const state = async () => {
      const { json, headers, text } = await place.client(form).get('/transactions/alpha~p-1', { key: own })
      return [(json as { status: string }).status, headers['x-swap-attention'] ?? text.includes('attention')]
    }
    const hold = (status: string): void => {
      place.alpha.holdings.swaps = [swap({ id: 'p-1', status: status as never })]
    }
    hold('broken')
    expect(await state()).toEqual(['exchanging', 'failed'])
    hold('confirmation')
    expect(await state()).toEqual(['confirmation', false])
    hold('broken')
    expect(await state()).toEqual(['confirmation', 'failed'])
    const { json } = await place.client(form).get('/transactions', { key: own })
    expect(json).toMatchObject({ data: [{ status: 'confirmation' }] })
    hold('a word of its own')
    expect(await state()).toEqual(['confirmation', 'unknown_status'])
    const told = (await place.client(form).get('/transactions', { key: own })).json
    expect(told).toMatchObject({ data: [{ status: 'confirmation', attention: 'unknown_status' }] })
    hold('frozen')
    expect(await state()).toEqual(['exchanging', 'held'])
    hold('refunded')
    expect(await state()).toEqual(['refunded', false])
    expect(await place.gateway.ledgerAdmin.needPerson()).toEqual([])
  })
})

describe('W23: a transaction that the provider does not find', () => {
  const hourMs = 3_600_000
  const own = (): string => id.slice('alpha~'.length)
  const stored = () => managed.gateway.ledger.find(owner, 'alpha', own())
  let owner: string

  /** As if it had been missing for so long, and not found last so long ago. */
  const missingFor = async (sinceMs: number, lastMs?: number): Promise<void> => {
    const entry = await stored()
    const missing = { missingSince: Date.now() - sinceMs, ...(lastMs !== undefined && { missingAt: Date.now() - lastMs }) }
    if (entry) await managed.gateway.ledger.upsert(owner, 'alpha', { ...entry, ...missing }, entry)
  }
  const lose = async (status = 'exchanging'): Promise<void> => {
    await start('A', statuses, { steadyClock: () => 1_000 })
    owner = (await managed.gateway.ledgerAdmin.findTransaction('alpha', own()))?.entry.owner ?? ''
    become(status)
    await get()
    managed.alpha.holdings.swaps = []
    await get()
    managed.alpha.reset()
  }

  test('needs a person once that has lasted an hour, and is then read hourly', async () => {
    await lose()
    expect(await readState()).toEqual(['exchanging', undefined])
    await missingFor(hourMs - 5_000)
    expect(await readState()).toEqual(['exchanging', undefined])
    expect(await waiting()).toEqual([])
    await missingFor(hourMs)
    expect(await readState()).toEqual(['exchanging', 'lost'])
    expect(await waiting()).toEqual([[own(), 'lost']])
    expect(managed.alpha.received('get')).toHaveLength(3)
    await missingFor(2 * hourMs, hourMs)
    await get()
    expect(managed.alpha.received('get')).toHaveLength(4)
    expect((await get()).headers).toHaveProperty('x-swap-stale')
    expect(managed.alpha.received('get')).toHaveLength(4)
  })

  test('needs none as soon as it is found again', async () => {
    await lose()
    await missingFor(2 * hourMs, hourMs)
    await get()
    await missingFor(2 * hourMs, hourMs)
    managed.alpha.holdings.swaps = [swap({ id: own(), status: 'sending', withdrawalAddress: 'TWithdraw1' })]
    expect(await readState()).toEqual(['sending', undefined])
    expect(await waiting()).toEqual([])
    expect(await stored()).not.toHaveProperty('missingSince')
  })

  test('needs none after an operator settled it', async () => {
    await lose()
    await missingFor(2 * hourMs, hourMs)
    await get()
    expect(await settle('overdue')).toBe('settled')
    await missingFor(3 * hourMs, hourMs)
    await get()
    expect(await readState()).toEqual(['overdue', undefined])
    expect(await waiting()).toEqual([])
  })

  test('keeps what the provider reported before', async () => {
    await lose('frozen')
    await missingFor(2 * hourMs, hourMs)
    await get()
    expect(await waiting()).toEqual([[own(), 'held']])
  })

  test('is read hourly without a client, too, and then no client has to find out', async () => {
    await lose()
    await missingFor(2 * hourMs, hourMs)
    await get()
    expect(managed.alpha.received('get')).toHaveLength(1)
    await managed.gateway.pollTransactions()
    expect(managed.alpha.received('get')).toHaveLength(1)
    await missingFor(3 * hourMs, hourMs)
    managed.alpha.holdings.swaps = [swap({ id: own(), status: 'success', withdrawalAddress: 'TWithdraw1' })]
    managed.reconfigure({ routing: ['alpha'], sections: { ledger }, providers: { alpha: { statuses } } })
    await managed.gateway.pollTransactions()
    expect(managed.alpha.received('get')).toHaveLength(2)
    expect(await waiting()).toEqual([])
    expect((await stored())?.transaction.status).toBe('success')
  })

  test('is read hourly at a draining provider, too', async () => {
    await lose()
    await missingFor(2 * hourMs, 0)
    managed.reconfigure({ routing: ['alpha'], sections: { ledger }, providers: { alpha: { state: 'draining', statuses } } })
    await managed.gateway.pollTransactions()
    expect(managed.alpha.received('get')).toEqual([])
  })
})
