/** docs/contract.md §18.3: `swapgate webhooks`, and what `check` says of their key. */
import { randomBytes } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { secretBox } from '../../src/adapters/webhook-crypto.ts'
import type { AuditRecord } from '../../src/core/operations/audit.ts'
import { Place } from '../cli/place.ts'
import { facts } from '../ledger/samples.ts'
import { type Received, Receiver } from './receiver.ts'

const key = randomBytes(32).toString('base64')
const other = randomBytes(48).toString('base64')
const providers =
  'providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2", key: provider-key-1 } }\nrouting: { providers: [alpha] }\n'
const managed = (webhooks: object) => `${providers}auth: { mode: managed }\nwebhooks: ${JSON.stringify(webhooks)}\n`

interface Added {
  readonly id: string
  readonly account: string
  readonly url: string
  readonly form: string
  readonly state: string
  readonly secret: string
  readonly oldSecretEndsAt: string | null
}

let place: Place
beforeEach(async () => {
  place = new Place()
  place.write(managed({ key }))
  await place.facts('accounts', 'set', 'acme', '--read', '9')
})
afterEach(() => place[Symbol.dispose]())

const url = 'https://hooks.example/swaps?token=secret-of-the-receiver'
const add = (...args: readonly string[]): Promise<Added> => place.facts('webhooks', 'add', ...args)
const list = (): Promise<readonly Added[]> => place.facts('webhooks', 'list')
const audited = (): Promise<readonly AuditRecord[]> => place.facts('audit')

describe('webhooks add', () => {
  it('shows the secret once: 32 bytes behind whsec_', async () => {
    const { secret, ...added } = await add('acme', url, '--form', 'b')
    expect(added).toMatchObject({
      id: expect.stringMatching(/^wh_[0-9a-f]{32}$/),
      account: 'acme',
      url,
      form: 'B',
      state: 'active',
    })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(await list()).toEqual([added])
    expect(await place.facts('webhooks', 'show', added.id)).toEqual({ ...added, waiting: 0, failed: 0 })
  })

  it('gives an account at most fifty that are active', async () => {
    const added: Added[] = []
    for (let count = 0; count < 50; count++) added.push(await add('acme', url))
    const oneMore = () => place.swapgate('webhooks', 'add', 'acme', url)
    expect(await oneMore()).toMatchObject({
      exitCode: 1,
      err: ['swapgate: The account has 50 webhooks, the most that it may have; remove one first'],
    })
    await place.swapgate('webhooks', 'remove', added[0]?.id ?? '')
    expect((await oneMore()).exitCode).toBe(0)
  })

  it('takes the form of the configuration where none is named', async () => {
    place.write(`${managed({ key })}defaultForm: b\n`)
    expect(await add('acme', url)).toMatchObject({ form: 'B' })
  })

  it("stores the secret so that the ledger's file alone does not give it away", async () => {
    const { id, secret } = await add('acme', url)
    const files = ['', '-wal'].map((end) => `${place.ledgerUrl.replace('sqlite:', '')}${end}`)
    const bytes = files.flatMap((file) => {
      try {
        return [readFileSync(file, 'latin1')]
      } catch {
        return []
      }
    })
    const raw = Buffer.from(secret.slice('whsec_'.length), 'base64')
    for (const text of bytes) {
      expect(text).not.toContain(secret.slice('whsec_'.length))
      expect(text).not.toContain(raw.toString('latin1'))
    }
    const stores = await place.stores()
    const stored = (await stores.webhooks.find(id))?.secret ?? ''
    await stores.close()
    expect(secretBox([key]).open(stored, id)).toBe(secret)
    expect(secretBox([other]).open(stored, id)).toBeUndefined()
    expect(secretBox([key]).open(stored, 'wh_other')).toBeUndefined()
  })

  it.each([
    ['https://127.0.0.1/x', /its address is not public/],
    ['https://10.1.2.3/x', /its address is not public/],
    ['https://169.254.169.254/latest/meta-data', /its address is not public/],
    ['https://100.64.0.1/', /its address is not public/],
    ['https://2130706433/', /its address is not public/], // 127.0.0.1 in decimal digits
    ['https://0177.0.0.1/', /its address is not public/], // and in octal ones
    ['https://0x7f.1/', /its address is not public/],
    ['https://127.0.0.1./', /its address is not public/],
    ['https://0.0.0.0/', /its address is not public/],
    ['https://[::]/', /its address is not public/],
    ['https://[::1]/', /its address is not public/],
    ['https://[::ffff:8.8.8.8]/', /its address is not public/],
    ['https://[64:ff9b::808:808]/', /its address is not public/], // NAT64
    ['https://[2002:808:808::1]/', /its address is not public/], // 6to4
    ['https://[2001:db8::1]/', /its address is not public/],
    ['https://[fe80::1]/', /its address is not public/],
    ['https://224.0.0.1/', /its address is not public/],
    ['http://hooks.example/x', /only https is open/],
    ['http://8.8.8.8/x', /only https is open/],
    ['ftp://hooks.example/x', /it must be an https URL/],
    ['https://user:password@hooks.example/x', /it must be an https URL/],
    ['https://hooks.example/x#part', /it must be an https URL/],
    ['hooks.example', /it must be an https URL/],
    ['https://', /it must be an https URL/],
    ['https://hooks.example/a b', /it must be an https URL/],
  ])('refuses %s', async (refused, why) => {
    const { exitCode, out, err } = await place.swapgate('webhooks', 'add', 'acme', refused)
    expect([exitCode, out]).toEqual([1, []])
    expect(err.join()).toMatch(why)
    expect(await list()).toEqual([])
  })

  it('takes what webhooks.allow opens, and nothing beside it', async () => {
    place.write(managed({ key, allow: ['10.0.0.0/8', 'fd00::/8', 'http://127.0.0.1:8081', 'http://inside'] }))
    const taken = ['https://10.1.2.3/x', 'https://[fd00::1]/', 'http://127.0.0.1:8081/x', 'http://inside/', 'http://inside:9000/x']
    for (const one of taken) expect((await add('acme', one)).url).toBe(one)
    for (const one of [
      'https://192.168.0.1/',
      'http://10.1.2.3/',
      'http://127.0.0.1:8082/',
      'http://127.0.0.1/',
      'http://inside.example/',
    ])
      expect((await place.swapgate('webhooks', 'add', 'acme', one)).exitCode, one).toBe(1)
  })

  it('refuses an unknown account, and makes none', async () => {
    const { exitCode, err } = await place.swapgate('webhooks', 'add', 'nobody', url)
    expect([exitCode, err]).toEqual([1, ['swapgate: no account has the name nobody']])
    expect(await place.facts('accounts', 'list')).toHaveLength(1)
  })

  it('is refused without webhooks.key', async () => {
    place.write(managed({}))
    const { exitCode, err } = await place.swapgate('webhooks', 'add', 'acme', url)
    expect([exitCode, err]).toEqual([1, ['swapgate: webhooks.key is not set, and a secret is not stored without one']])
  })

  it.each([
    ['an unknown form', ['acme', url, '--form', 'C']],
    ['no URL', ['acme']],
  ])('%s is wrong usage', async (_, args) => {
    expect((await place.swapgate('webhooks', 'add', ...args)).exitCode).toBe(2)
  })
})

describe('webhooks rotate', () => {
  it('gives another secret, and keeps the old one for a day', async () => {
    const { id, secret } = await add('acme', url)
    const before = Date.now()
    const rotated = await place.facts<Added>('webhooks', 'rotate', id)
    expect(rotated.secret).not.toBe(secret)
    expect(Date.parse(rotated.oldSecretEndsAt ?? '') - before).toBeGreaterThanOrEqual(86_400_000)
    expect(Date.parse(rotated.oldSecretEndsAt ?? '') - before).toBeLessThan(86_460_000)
    const stores = await place.stores()
    const stored = await stores.webhooks.find(id)
    await stores.close()
    const { open } = secretBox([key])
    expect([open(stored?.secret ?? '', id), open(stored?.previous?.secret ?? '', id)]).toEqual([rotated.secret, secret])
  })

  it('ends the old secret at once with 0', async () => {
    const { id } = await add('acme', url)
    const { out } = await place.swapgate('webhooks', 'rotate', id, '--overlap', '0')
    expect(out.at(-1)).toBe('The old secret signs no more.')
    const stores = await place.stores()
    expect((await stores.webhooks.find(id))?.previous).toBeUndefined()
    await stores.close()
    expect(await list()).toMatchObject([{ id, oldSecretEndsAt: null }])
  })

  it.each(['8d', '-1', 'soon'])('an overlap of %s is wrong usage', async (overlap) => {
    const { id } = await add('acme', url)
    expect((await place.swapgate('webhooks', 'rotate', id, `--overlap=${overlap}`)).exitCode).toBe(2)
  })
})

describe('webhooks test', () => {
  it('sends something that is no change, signed, and says what became of it', async () => {
    await using to = await Receiver.start()
    place.write(managed({ key, allow: [`http://127.0.0.1:${to.port}`] }))
    const { id, secret } = await add('acme', `http://127.0.0.1:${to.port}/hook`)
    expect(await place.facts('webhooks', 'test', id)).toEqual({
      at: expect.any(String),
      status: 200,
      ms: expect.any(Number),
      body: 'taken',
    })
    const { secret: next } = await place.facts<Added>('webhooks', 'rotate', id)
    to.respond = (_, response) => response.writeHead(500).end('\u001b[31mbroken')
    const { exitCode, out } = await place.swapgate('webhooks', 'test', id)
    expect([exitCode, out.join()]).toEqual([1, expect.stringMatching(/^500 after \d+ ms: [^\u001b]*broken$/)])
    const [first, second] = to.received as [Received, Received]
    expect(JSON.parse(first.body)).toEqual({ type: 'webhook.test', timestamp: expect.any(String), data: {} })
    expect(first.headers['webhook-id']).not.toBe(second.headers['webhook-id'])
    for (const { body, headers } of [first, second]) new Webhook(secret).verify(body, headers as Record<string, string>)
    new Webhook(next).verify(second.body, second.headers as Record<string, string>)
    expect(second.headers['webhook-signature']).toMatch(/^v1,\S+ v1,\S+$/)
    expect((await audited()).map(({ action }) => action).filter((action) => action === 'webhook.test')).toHaveLength(2)
    expect(await place.facts('webhooks', 'deliveries', id)).toEqual([])
  })

  it('sends nothing where no key reads the secret', async () => {
    await using to = await Receiver.start()
    const allow = [`http://127.0.0.1:${to.port}`]
    place.write(managed({ key, allow }))
    const { id } = await add('acme', `http://127.0.0.1:${to.port}/hook`)
    place.write(managed({ key: other, allow }))
    expect(await place.swapgate('webhooks', 'test', id)).toMatchObject({ exitCode: 1, out: ['secret after 0 ms'] })
    expect(to.connections).toBe(0)
  })
})

it('a webhook that was removed is gone, and again it is unknown', async () => {
  const { id } = await add('acme', url)
  expect((await place.swapgate('webhooks', 'remove', id)).exitCode).toBe(0)
  expect(await list()).toEqual([])
  for (const command of ['remove', 'show', 'rotate', 'deliveries'])
    expect(await place.swapgate('webhooks', command, id)).toMatchObject({
      exitCode: 1,
      err: [`swapgate: no webhook has the id ${id}`],
    })
})

it('each change is audited, without a secret, and of the URL with its host alone', async () => {
  const { id, secret } = await add('acme', url)
  const rotated = await place.facts<Added>('webhooks', 'rotate', id, '--overlap', '1h')
  await place.swapgate('webhooks', 'remove', id)
  const records = (await audited()).filter(({ subject }) => subject === id)
  expect(records.map(({ action }) => action)).toEqual(['webhook.remove', 'webhook.rotate', 'webhook.add'])
  expect(records.at(-1)?.after).toEqual({ account: 'acme', host: 'hooks.example', form: 'A' })
  for (const text of [secret, rotated.secret, 'secret-of-the-receiver']) expect(JSON.stringify(records)).not.toContain(text)
})

it('deliveries beyond a thousand are on further pages, and the one before says so', async () => {
  const { id } = await add('acme', url)
  const stores = await place.stores()
  const { owner = '' } = (await stores.webhooks.find(id)) ?? {}
  for (let at = 0; at < 1_003; at++) await stores.ledger.upsert(owner, 'alpha', facts(`t${at}`))
  while ((await stores.events.number()).mayBeMore);
  await stores.close()
  const page = async (...args: readonly string[]) => {
    const { out, err } = await place.swapgate('webhooks', 'deliveries', id, '--json', ...args)
    const rows = JSON.parse(out.join()) as readonly { readonly id: string; readonly transaction: string }[]
    return { rows, err }
  }
  const first = await page()
  const last = first.rows.at(-1)?.id
  expect([first.rows.length, first.err]).toEqual([1_000, [`there are older ones: --after ${last}`]])
  const second = await page('--after', last ?? '')
  expect([second.rows.map(({ transaction }) => transaction), second.err]).toEqual([['alpha~t2', 'alpha~t1', 'alpha~t0'], []])
})

describe('check', () => {
  const warnings = async (): Promise<readonly string[]> =>
    (await place.facts<{ readonly warnings: readonly string[] }>('check')).warnings.filter((line) => line.startsWith('webhooks'))

  it('warns without a key, where accounts have keys', async () => {
    expect(await warnings()).toEqual([])
    place.write(managed({}))
    expect(await warnings()).toEqual(['webhooks.key is not set: no webhook can be added'])
    place.write(providers)
    expect(await warnings()).toEqual([])
  })

  it('counts the secrets that no key can read', async () => {
    const { id } = await add('acme', url)
    place.write(managed({ key: [other, key] }))
    expect(await warnings()).toEqual([])
    await add('acme', url)
    place.write(managed({ key: other }))
    expect(await warnings()).toEqual([
      expect.stringMatching(/^webhooks\.key: 1 secret of a webhook can be read by none of its keys/),
    ])
    await place.facts('webhooks', 'rotate', id)
    expect(await warnings()).toHaveLength(1) // the old secret still signs
    await place.facts('webhooks', 'rotate', id, '--overlap', '0')
    expect(await warnings()).toEqual([])
  })

  it.each([
    ['too short', { key: randomBytes(31).toString('base64') }],
    ['no base64', { key: '!'.repeat(64) }],
    ['too short in a list', { key: [key, 'c2hvcnQ='] }],
    ['no network', { key, allow: ['10.0.0.1/8'] }],
    ['no host', { key, allow: ['https://inside'] }],
    ['a path', { key, allow: ['http://inside/path'] }],
    ['no URL of a proxy', { key, proxy: 'environment' }],
  ])('%s is a fault, and its value is not shown', async (_, webhooks) => {
    place.write(managed(webhooks))
    const { exitCode, err } = await place.swapgate('check')
    expect(exitCode).toBe(1)
    expect(err.join()).toContain('webhooks.')
    for (const value of Object.values(webhooks).flat()) expect(err.join()).not.toContain(value)
  })
})
