// Takes long: providers that never answer.
/** A provider that accepts every call and never answers: lists keep to two seconds, and gets come at once from the ledger (docs/contract-operators.md §8, §12). */
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { createBreaker } from '../../src/core/resilience/breaker.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { type FormName, formNames, startPair } from '../support/pair.ts'
import type { Operation } from '../support/stand-in.ts'

const listMs = 2_000
const swaps = 12
const never = new Promise<never>(() => {})
const operations: readonly Operation[] = ['currencies', 'rate', 'create', 'list', 'get', 'other']

let managed: Managed
const closeManaged = (): Promise<void> => managed.close()

const hang = (): void => {
  for (const provider of [managed.alpha, managed.beta])
    for (const operation of operations) provider.reply(operation, { after: never })
}

interface Timed {
  readonly response: ReceivedResponse
  readonly tookMs: number
}

async function timed(send: () => Promise<ReceivedResponse>): Promise<Timed> {
  const startedAt = performance.now()
  const response = await send()
  return { response, tookMs: performance.now() - startedAt }
}

describe.each(formNames)('for a client of form %s with an issued key', (form: FormName) => {
  afterEach(closeManaged)
  let key: string
  const ids: string[] = []
  beforeEach(async () => {
    const sections = { ledger: { url: 'sqlite::memory:', refreshAfter: 0 } }
    managed = await startManaged({ breaker: createBreaker, steadyClock: () => performance.now(), sections })
    key = await managed.issue()
    for (let number = 0; number < swaps; number++) {
      const created = await managed.client(form).post('/transactions', orderIn(form), { key })
      ids.push((created.json as { id: string }).id)
    }
    hang()
  })
  const get = (path: string): Promise<Timed> => timed(() => managed.client(form).get(path, { key }))

  it('every list is answered within two seconds, with what the ledger has', async () => {
    for (const query of ['', '', '?status=wait', '?size=3']) {
      const { response, tookMs } = await get(`/transactions${query}`)
      expect(response.status).toBe(200)
      expect(tookMs).toBeLessThan(listMs)
    }
  }, 60_000)

  it('gets come at once, once the provider is known to hang', async () => {
    expect((await get(`/transactions/${ids.at(-1)}`)).response.status).toBe(200)
    for (const id of ids.slice(-5)) {
      const { response, tookMs } = await get(`/transactions/${id}`)
      expect(response.status).toBe(200)
      expect(response.headers['x-swap-stale']).toBeDefined()
      expect(tookMs).toBeLessThan(500)
    }
  }, 60_000)
})

describe.each(formNames)("for a client of form %s with the provider's own key", (form: FormName) => {
  it('a list is answered within two seconds, once the provider is known to hang', async () => {
    const pair = await startPair(form, 'A', { breaker: createBreaker, steadyClock: () => performance.now() })
    onTestFinished(() => pair.close())
    for (const operation of operations) pair.provider.reply(operation, { after: never })
    const list = (): Promise<Timed> => timed(() => pair.client.get('/transactions'))
    expect((await list()).response.status).toBe(504)
    for (let call = 0; call < 3; call++) expect((await list()).tookMs).toBeLessThan(listMs)
  }, 60_000)
})

it.each([
  ['from the other provider', ['alpha'], 200],
  ['with a failure if all hang', ['alpha', 'beta'], 504],
] as const)(
  'the first list of currencies is answered within two seconds, %s',
  async (_, hanging, status) => {
    managed = await startManaged({ breaker: createBreaker, steadyClock: () => performance.now(), routing: ['alpha', 'beta'] })
    onTestFinished(closeManaged)
    for (const name of hanging) managed[name].reply('currencies', { after: never })
    const { response, tookMs } = await timed(() => managed.client('A').get('/currencies'))
    expect(response.status).toBe(status)
    expect(tookMs).toBeLessThan(listMs)
  },
  60_000,
)
