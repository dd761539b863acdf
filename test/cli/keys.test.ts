import { readFileSync, writeFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { hashKey } from '../../src/adapters/crypto.ts'
import { authentication } from '../../src/core/access/authentication.ts'
import { isKey } from '../../src/domain/key.ts'
import { findKey } from '../support/key-lookup.ts'
import { Place } from './place.ts'

interface Created {
  readonly id: string
  readonly name: string
  readonly key: string
  readonly expiresAt: string | null
}

interface Listed extends Omit<Created, 'key'> {
  readonly state: string
  readonly createdAt: string
  readonly revokedAt: string | null
}

const now = Date.parse('2026-11-20T10:00:00Z')
const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/

let place: Place
beforeEach(() => {
  place = new Place()
  vi.useFakeTimers({ toFake: ['Date', 'performance'], now })
})
afterEach(() => {
  vi.useRealTimers()
  place[Symbol.dispose]()
})

const create = (...args: readonly string[]): Promise<Created> => place.facts('keys', 'create', ...args)
const list = (): Promise<readonly Listed[]> => place.facts('keys', 'list')
const rotate = (...args: readonly string[]): Promise<Created> => place.facts('keys', 'rotate', ...args)

describe('swapgate keys create', () => {
  it('prints the key, its account and its end, in one JSON document', async () => {
    const created = await create('--name', 'acme')
    expect(created).toEqual({ id: expect.stringMatching(uuid), name: 'acme', key: expect.any(String), expiresAt: null })
    expect(Object.keys(created)).toEqual(['id', 'name', 'key', 'expiresAt'])
    expect(isKey(created.key)).toBe(true)
  })

  it.each([
    ['90d', '2027-02-18T10:00:00.000Z'],
    ['24h', '2026-11-21T10:00:00.000Z'],
    ['30m', '2026-11-20T10:30:00.000Z'],
    ['45', '2026-11-20T10:00:45.000Z'],
  ])('lets a key end after %s', async (lifetime, expiresAt) => {
    expect((await create('--name', 'acme', '--expires', lifetime)).expiresAt).toBe(expiresAt)
    expect((await list())[0]?.expiresAt).toBe(expiresAt)
  })

  it('warns that the key is not shown again', async () => {
    const { exitCode, out } = await place.swapgate('keys', 'create', '--name', 'acme')
    expect(exitCode).toBe(0)
    expect(out).toEqual([
      expect.stringMatching(/^key {6}sg_live_[0-9A-Za-z]{33}$/),
      expect.stringMatching(/^id {7}[0-9a-f-]{36}$/),
      'account  acme',
      'ends     never',
      'The key is not shown again: its SHA-256 and its last four characters are stored.',
    ])
  })

  it('warns that issued keys are not used in passthrough mode', async () => {
    const { err } = await place.swapgate('keys', 'create', '--name', 'acme', '--json')
    expect(err).toEqual(['warning: auth.mode is passthrough: the gateway accepts issued keys only if it is managed'])
  })

  it('gives one account any number of keys, and never the same', async () => {
    const made = [await create('--name', 'acme'), await create('--name', 'acme')]
    expect(new Set(made.map(({ key }) => key)).size).toBe(2)
    const stores = await place.stores()
    const holdings = await Promise.all(made.map(({ key }) => findKey(stores.accounts, hashKey(key))))
    expect(new Set(holdings.map((holding) => holding?.identity)).size).toBe(1)
    await stores.close()
  })

  it.each(['', ' acme', 'acme ', 'a\nb', 'a\tb', 'a\u0000', 'a\u200bb', '\u202eacme', 'a\u00a0b', 'x'.repeat(65)])(
    'takes the name %j for wrong usage',
    async (name) => {
      const { exitCode, out, err } = await place.swapgate('keys', 'create', '--name', name)
      expect([exitCode, out]).toEqual([2, []])
      expect(err[0]).toContain('It must be 1 to 64 printable characters')
    },
  )

  it.each(['a', 'Acme Pay & Co.', 'Ümläut', '株式会社', '😀'.repeat(64)])('takes the name %s', async (name) => {
    expect((await create('--name', name)).name).toBe(name)
  })

  it('takes a name for the same however its marks are encoded', async () => {
    await create('--name', 'Cafe\u0301')
    await create('--name', 'Caf\u00e9')
    expect((await list()).map(({ name }) => name)).toEqual(['Caf\u00e9', 'Caf\u00e9'])
  })
})

describe('swapgate keys list', () => {
  it('is an array without keys, the oldest first, with the state of each', async () => {
    expect(await list()).toEqual([])
    const acme = await create('--name', 'acme', '--expires', '1h')
    vi.advanceTimersByTime(1_000)
    const umbrella = await create('--name', 'umbrella')
    vi.advanceTimersByTime(1_000)
    const globex = await create('--name', 'globex')
    await place.swapgate('keys', 'revoke', umbrella.id)
    vi.advanceTimersByTime(3_598_000)
    const access = { scope: ['quote', 'read', 'create', 'native'], networks: null, lastUsedAt: null }
    const accessOf = ({ key }: Created) => ({ ...access, hint: key.slice(-4) })
    expect(await list()).toEqual([
      {
        ...accessOf(acme),
        ...{ id: acme.id, name: 'acme', state: 'expired' },
        ...{ createdAt: '2026-11-20T10:00:00.000Z', expiresAt: '2026-11-20T11:00:00.000Z', revokedAt: null },
      },
      {
        ...accessOf(umbrella),
        ...{ id: umbrella.id, name: 'umbrella', state: 'revoked' },
        ...{ createdAt: '2026-11-20T10:00:01.000Z', expiresAt: null, revokedAt: '2026-11-20T10:00:02.000Z' },
      },
      {
        ...accessOf(globex),
        ...{ id: globex.id, name: 'globex', state: 'active' },
        ...{ createdAt: '2026-11-20T10:00:02.000Z', expiresAt: null, revokedAt: null },
      },
    ])
  })

  it('is a table for people', async () => {
    const acme = await create('--name', 'acme')
    vi.advanceTimersByTime(1_000)
    const globex = await create('--name', 'globex', '--expires', '1h')
    await place.swapgate('keys', 'revoke', globex.id)
    const { out } = await place.swapgate('keys', 'list')
    expect(out).toEqual([
      'id                                    account  key    scope  networks  state    created                   last used  ends',
      `${acme.id}  acme     …${acme.key.slice(-4)}  all    all       active   2026-11-20T10:00:00.000Z  -          never`,
      `${globex.id}  globex   …${globex.key.slice(-4)}  all    all       revoked  2026-11-20T10:00:01.000Z  -          2026-11-20T10:00:01.000Z`,
    ])
  })
})

describe('swapgate keys revoke', () => {
  it('ends a key once', async () => {
    const { id } = await create('--name', 'acme')
    expect(await place.swapgate('keys', 'revoke', id)).toEqual({ exitCode: 0, out: [`The key ${id} is revoked.`], err: [] })
    expect((await list())[0]).toMatchObject({ state: 'revoked', revokedAt: '2026-11-20T10:00:00.000Z' })
    const again = { exitCode: 1, out: [], err: [`swapgate: no key has the id ${id}, or it is already revoked`] }
    expect(await place.swapgate('keys', 'revoke', id)).toEqual(again)
  })

  it('refuses an id that is no key', async () => {
    expect((await place.swapgate('keys', 'revoke', 'acme')).exitCode).toBe(1)
  })
})

describe('swapgate keys rotate', () => {
  it('issues a key to the same account, and by default the old one ends a day later', async () => {
    const old = await create('--name', 'acme')
    vi.advanceTimersByTime(1_000)
    const made = await rotate(old.id)
    expect(made).toEqual({ id: expect.stringMatching(uuid), name: 'acme', key: expect.any(String), expiresAt: null })
    expect(made.id).not.toBe(old.id)
    expect((await list()).map(({ id, expiresAt }) => [id, expiresAt])).toEqual([
      [old.id, '2026-11-21T10:00:01.000Z'],
      [made.id, null],
    ])
  })

  it('keeps both keys valid for the overlap, and never longer than the old one was', async () => {
    const old = await create('--name', 'acme', '--expires', '1h')
    vi.advanceTimersByTime(60_000)
    const rotation = await place.swapgate('keys', 'rotate', old.id, '--overlap', '29m', '--expires', '90d')
    expect(rotation.out.at(-1)).toBe(`The old key ${old.id} ends at 2026-11-20T10:30:00.000Z.`)
    expect(rotation.out).toContain('ends     2027-02-18T10:01:00.000Z')
    expect((await list())[0]?.expiresAt).toBe('2026-11-20T10:30:00.000Z')
    const later = await place.swapgate('keys', 'rotate', old.id, '--overlap', '90d')
    expect(later.out.at(-1)).toBe(`The old key ${old.id} ends at 2026-11-20T10:30:00.000Z.`)
    expect((await list())[0]?.expiresAt).toBe('2026-11-20T10:30:00.000Z')
  })

  it('ends the old key at once without an overlap', async () => {
    const old = await create('--name', 'acme')
    vi.advanceTimersByTime(1)
    await rotate(old.id, '--overlap', '0')
    expect((await list()).map(({ state }) => state)).toEqual(['expired', 'active'])
  })

  it('refuses what is no valid key, and issues none', async () => {
    const { id } = await create('--name', 'acme')
    await place.swapgate('keys', 'revoke', id)
    const gone = await create('--name', 'acme', '--expires', '1')
    vi.advanceTimersByTime(1_000)
    for (const refused of [id, gone.id, 'acme']) {
      const result = await place.swapgate('keys', 'rotate', refused)
      expect(result).toEqual({ exitCode: 1, out: [], err: [`swapgate: no valid key has the id ${refused}`] })
    }
    expect(await list()).toHaveLength(2)
  })
})

describe('A11: what the operator does takes effect in every replica that shares the ledger', () => {
  it('within two seconds, and the account stays the same', async () => {
    const stores = [await place.stores(), await place.stores()]
    const replicas = stores.map(({ accounts }) =>
      authentication({ accounts, digest: hashKey, uses: { note: () => {} }, clock: Date.now, observe: () => {} }),
    )
    const sendRequest = (key: string) =>
      Promise.all(replicas.map(async (identify) => (await identify(key, false, '192.0.2.1'))?.identity))
    const old = await create('--name', 'acme')
    const [account] = await sendRequest(old.key)
    expect(account).toEqual(expect.any(String))
    const next = await rotate(old.id, '--overlap', '1h')
    expect(await sendRequest(next.key)).toEqual([account, account])
    vi.advanceTimersByTime(3_599_999)
    expect(await sendRequest(old.key)).toEqual([account, account])
    vi.advanceTimersByTime(1)
    expect(await sendRequest(old.key)).toEqual([undefined, undefined])
    await place.swapgate('keys', 'revoke', next.id)
    vi.advanceTimersByTime(2_000)
    expect(await sendRequest(next.key)).toEqual([undefined, undefined])
    for (const { close } of stores) await close()
  })
})

describe('the ledger', () => {
  it('holds no key and nothing that is a part of one', async () => {
    const { key } = await create('--name', 'acme')
    const { readdirSync, readFileSync } = await import('node:fs')
    const { join } = await import('node:path')
    const files = readdirSync(place.directory).map((name) => readFileSync(join(place.directory, name), 'latin1'))
    expect(files.some((text) => text.includes(hashKey(key)))).toBe(true)
    expect(files.filter((text) => text.includes(key.slice(8, 20)))).toEqual([])
  })

  it('is reported in one line if it cannot be opened', async () => {
    using elsewhere = new Place({ ledgerUrl: 'sqlite:/dev/null/ledger.db' })
    for (const args of [['create', '--name', 'acme'], ['list'], ['revoke', 'x'], ['rotate', 'x']]) {
      const { exitCode, out, err } = await elsewhere.swapgate('keys', ...args)
      expect([exitCode, out]).toEqual([1, []])
      expect(err).toEqual([expect.stringMatching(/^swapgate: The ledger in \/dev\/null\/ledger.db cannot be opened: [^\n]+$/)])
    }
  })
})

it('check warns of an account of telemetry.accounts that the ledger does not know', async () => {
  const check = () => place.facts<{ readonly warnings: readonly string[] }>('check')
  const ofTelemetry = async () => (await check()).warnings.filter((line) => line.startsWith('telemetry'))
  const before = readFileSync(place.file, 'utf8')
  writeFileSync(place.file, `${before}telemetry: { accounts: [acme, "Cafe\u0301"] }\n`)
  expect(await ofTelemetry(), 'there is no ledger yet').toEqual([])
  await create('--name', 'Caf\u00e9')
  expect(await ofTelemetry()).toEqual(['telemetry.accounts: no account has the name acme: nothing is counted for it'])
  await create('--name', 'acme')
  expect(await ofTelemetry()).toEqual([])
})

describe('wrong usage', () => {
  it.each([
    ['no command', []],
    ['no such command', ['issue']],
    ['no name', ['create']],
    ['no id', ['revoke']],
    ['a word too many', ['list', 'acme']],
    ['a lifetime that is none', ['create', '--name', 'acme', '--expires', 'soon']],
    ['a lifetime of nothing', ['create', '--name', 'acme', '--expires', '0d']],
    ['an overlap that is none', ['rotate', 'x', '--overlap', '1w']],
  ])('is %s: 2, and nothing is done', async (_, args) => {
    const { exitCode, out, err } = await place.swapgate('keys', ...args)
    expect([exitCode, out]).toEqual([2, []])
    expect(err.length).toBeGreaterThan(0)
    expect(await list()).toEqual([])
  })
})
