// Takes long: each way to lose the right to a stream.
/** docs/contract.md §5, §18.2: who gets a stream, how many, and when it ends because its key does. */
import { randomBytes, randomUUID } from 'node:crypto'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import type { IssuedKey } from '../../src/core/access/authentication.ts'
import { keyBytes, makeKey } from '../../src/domain/key.ts'
import { type EventSource, openEvents } from '../support/event-source.ts'
import { type Managed, orderIn, startManaged } from '../support/managed.ts'
import { formNames } from '../support/pair.ts'

let directory: string
let managed: Managed
beforeEach(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-streams-'))
  managed = await startManaged({ ledger: `sqlite:${join(directory, 'ledger.db')}` })
})
afterEach(async () => {
  await managed.close()
  rmSync(directory, { recursive: true })
})

interface Key {
  readonly id: string
  readonly key: string
}

const issue = async (facts: Partial<IssuedKey> = {}): Promise<Key> => {
  const key = makeKey(randomBytes(keyBytes))
  const id = randomUUID()
  await managed.gateway.accounts.addKey({ id, name: 'acme', createdAt: Date.now(), ...facts }, hashKey(key), 'tester')
  return { id, key }
}

describe.each(formNames)('form %s', (form) => {
  const create = async ({ key }: Key): Promise<string> =>
    ((await managed.client(form).post('/transactions', orderIn(form), { key })).json as { id: string }).id
  const pathsOf = (id: string): readonly string[] => [`/transactions/${id}/events`, '/events']
  const open = (path: string, { key }: Key): Promise<EventSource> =>
    openEvents(
      `${managed.gateway.url}/${form.toLowerCase()}/api/v2${path}`,
      form === 'A' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key },
    )
  /** Both kinds of stream of this key. */
  const openBoth = (id: string, key: Key): Promise<readonly EventSource[]> =>
    Promise.all(pathsOf(id).map((path) => open(path, key)))

  test('a key without the scope `read`, and one from another network, get what a get gets', async () => {
    const id = await create(await issue())
    const reader = await issue({ scope: ['read'] })
    for (const path of pathsOf(id)) expect((await open(path, reader)).status).toBe(200)
    for (const [key, reason] of [
      [await issue({ scope: ['quote', 'create', 'native'] }), 'key_scope'],
      [await issue({ networks: ['203.0.113.0/24'] }), 'key_invalid'],
    ] as const) {
      const get = await managed.client(form).get(`/transactions/${id}`, key)
      for (const path of pathsOf(id)) {
        const refused = await open(path, key)
        await refused.untilEnd()
        expect([refused.status, refused.headers['x-swap-reason'], refused.text()]).toEqual([401, reason, get.text])
        expect(refused.headers['www-authenticate']).toBe(get.headers['www-authenticate'])
      }
    }
    expect((await open('/events', await issue({ networks: ['127.0.0.0/8'] }))).status).toBe(200)
  })

  test('the limit of an account counts both kinds over all its keys, holds soon after its change, and ends none', async () => {
    const key = await issue()
    const id = await create(key)
    await managed.gateway.accounts.changeLimits('acme', { streams: 2 }, Date.now(), 'alice')
    const streams = await openBoth(id, key)
    const other = await issue()
    const isRefused = async (): Promise<readonly unknown[]> => {
      const { status, headers, close } = await open('/events', other)
      close()
      return [status, headers['x-swap-reason'], headers['retry-after']]
    }
    await expect.poll(isRefused).toEqual([429, 'limited', '5'])
    await managed.gateway.accounts.changeLimits('acme', { streams: 3 }, Date.now(), 'alice')
    await expect.poll(isRefused).toEqual([200, undefined, undefined])
    await managed.gateway.accounts.changeLimits('acme', { streams: 1 }, Date.now(), 'alice')
    await expect.poll(isRefused).toEqual([429, 'limited', '5'])
    expect(streams.map((stream) => stream.ended())).toEqual([undefined, undefined])
    streams[0]?.close()
    streams[1]?.close()
    await expect.poll(isRefused).toEqual([200, undefined, undefined])
  })

  test.each([
    ['is revoked', async ({ id }: Key) => void (await managed.gateway.accounts.revokeKey(id, Date.now(), 'alice'))],
    ['loses the scope', async ({ id }: Key) => change(`UPDATE keys SET scope = 'quote' WHERE id = '${id}'`)],
    [
      'is bound to another network',
      async ({ id }: Key) => change(`UPDATE keys SET networks = '203.0.113.0/24' WHERE id = '${id}'`),
    ],
    ['expires', async ({ id }: Key) => change(`UPDATE keys SET expires_at = ${Date.now() + 200} WHERE id = '${id}'`)],
  ])('both kinds end within 5 s after their key %s, and no others', { timeout: 30_000 }, async (_, end) => {
    const key = await issue()
    const id = await create(key)
    const streams = await openBoth(id, key)
    const others = await openBoth(id, await issue())
    await end(key)
    const endedAt = performance.now()
    for (const stream of streams) expect(await stream.untilEnd()).toBe('whole')
    expect(performance.now() - endedAt).toBeLessThan(5_000)
    expect(others.map((stream) => stream.ended())).toEqual([undefined, undefined])
  })
})

function change(statement: string): void {
  const database = new DatabaseSync(join(directory, 'ledger.db'))
  const { changes } = database.prepare(statement).run()
  database.close()
  expect(changes).toBe(1)
}
