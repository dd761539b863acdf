/** docs/contract-operators.md §13: a command whose output was lost does not end as if it were done, and what nobody has is taken back. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Place } from './place.ts'

interface Row {
  readonly id: string
  readonly state: string
  readonly oldSecretEndsAt?: string | null
}

let place: Place
beforeEach(() => {
  place = new Place()
  const key = Buffer.alloc(32, 7).toString('base64')
  place.write(`providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2", key: provider-key-1 } }
routing: { providers: [alpha] }
auth: { mode: managed }
webhooks: { key: "${key}" }
`)
})
afterEach(() => place[Symbol.dispose]())

const keys = (): Promise<readonly Row[]> => place.facts('keys', 'list')
const webhooks = (): Promise<readonly Row[]> => place.facts('webhooks', 'list')
const states = async (rows: () => Promise<readonly Row[]>): Promise<readonly string[]> => (await rows()).map(({ state }) => state)
const addWebhook = (): Promise<Row> => place.facts('webhooks', 'add', 'acme', 'https://hooks.example/a')

describe.each([{ code: 'ENOSPC' as const }, { code: 'EPIPE' as const }])('the line with the secret meets $code', ({ code }) => {
  const lost = { fromLine: 0, code }

  it.each([[[]], [['--json']]])('keys create %s revokes the key, and says so', async (more) => {
    const { exitCode, err } = await place.swapgateLosing(lost, 'keys', 'create', '--name', 'acme', ...more)
    const [key] = await keys()
    expect([exitCode, err[0]]).toEqual([1, `swapgate: the key ${key?.id} of acme could not be written: it is revoked`])
    expect(key?.state).toBe('revoked')
  })

  it('webhooks add removes the webhook, and says so', async () => {
    await place.facts('accounts', 'set', 'acme', '--read', '9')
    const { exitCode, err } = await place.swapgateLosing(lost, 'webhooks', 'add', 'acme', 'https://hooks.example/a')
    expect([exitCode, err[0]]).toEqual([
      1,
      expect.stringMatching(/^swapgate: the secret of the webhook wh_\w+ could not be written: it is removed$/),
    ])
    expect(await webhooks()).toEqual([])
  })

  it.each([[[]], [['--json']]])('a rotation %s is not begun', async (more) => {
    const { id } = await place.facts<Row>('keys', 'create', '--name', 'acme')
    const ofKey = await place.swapgateLosing(lost, 'keys', 'rotate', id, ...more)
    expect([ofKey.exitCode, ofKey.err[0]]).toEqual([1, `swapgate: the output cannot be written: the key ${id} is not rotated`])
    expect(await keys()).toEqual([expect.objectContaining({ id, state: 'active', expiresAt: null })])
    const webhook = await addWebhook()
    const ofSecret = await place.swapgateLosing(lost, 'webhooks', 'rotate', webhook.id, ...more)
    expect([ofSecret.exitCode, ofSecret.err[0]]).toEqual([
      1,
      `swapgate: the output cannot be written: the secret of ${webhook.id} is not rotated`,
    ])
    expect(await webhooks()).toEqual([expect.objectContaining({ id: webhook.id, oldSecretEndsAt: null })])
  })
})

describe('what is lost behind the secret', () => {
  it('takes nothing back, and is told: a full disk', async () => {
    const { exitCode, err } = await place.swapgateLosing({ fromLine: 1 }, 'keys', 'create', '--name', 'acme')
    const [key] = await keys()
    expect([exitCode, key?.state]).toEqual([1, 'active'])
    expect(err).toEqual([
      'swapgate: the output was lost: ENOSPC: write',
      `swapgate: the key ${key?.id} of acme is issued, and was written`,
    ])
    const rotated = await place.swapgateLosing({ fromLine: 1 }, 'keys', 'rotate', key?.id ?? '')
    expect([rotated.exitCode, rotated.err[1]]).toEqual([
      1,
      expect.stringMatching(`^swapgate: the key ${key?.id} is rotated, .*written$`),
    ])
    expect(await states(keys)).toEqual(['active', 'active'])
  })

  it('is no failure where its reader has closed it', async () => {
    const lost = { fromLine: 1, code: 'EPIPE' } as const
    const { exitCode, err } = await place.swapgateLosing(lost, 'keys', 'create', '--name', 'acme')
    expect([exitCode, err]).toEqual([0, []])
    const { id } = await addWebhook()
    expect((await place.swapgateLosing(lost, 'webhooks', 'rotate', id)).exitCode).toBe(0)
    expect((await place.swapgateLosing(lost, 'webhooks', 'add', 'acme', 'https://hooks.example/b')).exitCode).toBe(0)
    expect([await states(keys), await states(webhooks)]).toEqual([['active'], ['active', 'active']])
  })
})

describe('without a secret', () => {
  it('a listing is a failure on a full disk, and none where its reader has closed it', async () => {
    await place.facts('keys', 'create', '--name', 'acme')
    for (const args of [['keys', 'list'], ['audit'], ['usage', '--json'], ['accounts', 'list'], ['check']]) {
      const { exitCode, err } = await place.swapgateLosing({ fromLine: 0 }, ...args)
      expect([exitCode, err]).toEqual([1, ['swapgate: the output was lost: ENOSPC: write']])
      expect(await place.swapgateLosing({ fromLine: 0, code: 'EPIPE' }, ...args)).toMatchObject({ exitCode: 0, err: [] })
    }
  })

  it.each(['ENOSPC', 'EPIPE'] as const)('a command says elsewhere what it did: %s', async (code) => {
    const { id } = await place.facts<Row>('keys', 'create', '--name', 'acme')
    const { exitCode, err } = await place.swapgateLosing({ fromLine: 0, code }, 'keys', 'revoke', id)
    expect([exitCode, err]).toEqual([
      1,
      [`swapgate: the output was lost: ${code}: write`, `swapgate: not written: The key ${id} is revoked.`],
    ])
    expect(await states(keys)).toEqual(['revoked'])
    const set = await place.swapgateLosing({ fromLine: 0, code }, 'accounts', 'set', 'acme', '--read', '9', '--json')
    expect([set.exitCode, set.err[1]]).toEqual([1, expect.stringMatching(/^swapgate: not written: \{"name":"acme",.*"read":9/)])
    const off = await place.swapgateLosing({ fromLine: 0, code }, 'providers', 'off', 'alpha', '--force')
    expect([off.exitCode, off.err[1]]).toEqual([1, expect.stringContaining('not written: alpha is off')])
  })

  it('a refusal stays one', async () => {
    const { exitCode, err } = await place.swapgateLosing({ fromLine: 0 }, 'keys', 'revoke', 'nobody')
    expect([exitCode, err]).toEqual([1, ['swapgate: no key has the id nobody, or it is already revoked']])
  })
})

it('what a list has in a repeated option is added', async () => {
  const allow = ['--allow', '203.0.113.0/24', '--allow', '2001:db8::/32,203.0.113.0/24']
  await place.facts('keys', 'create', '--name', 'acme', '--scope', 'quote', '--scope', 'read', ...allow)
  expect(await keys()).toEqual([
    expect.objectContaining({ scope: ['quote', 'read'], networks: expect.arrayContaining(['203.0.113.0/24', '2001:db8::/32']) }),
  ])
})
