/** docs/limits.md: what is wrong with Redis, or with the way to it, is one line in the log that says what to set. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { createClient, openRedis } from '../../src/adapters/redis/index.ts'
import { parseRedisUrl } from '../../src/domain/redis-url.ts'
import { freshLookup } from '../../src/process/name-lookup.ts'
import { logLines } from '../observability/log-lines.ts'
import { type Certified, certify } from '../support/certificate.ts'
import { startFormA } from '../support/form-a.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { RedisServer } from '../support/redis.ts'

const day = 86_400_000
const password = 'canary-password'

let directory: string
let before: string[]
let authority: Certified
let open: AsyncDisposableStack
let plain: RedisServer
let guarded: RedisServer

beforeAll(async () => {
  open = new AsyncDisposableStack()
  directory = mkdtempSync(join(tmpdir(), 'swapgate-redis-tls-'))
  open.defer(() => rmSync(directory, { recursive: true, force: true }))
  authority = certify({ name: 'Authority of the test' })
  before = getCACertificates('default')
  setDefaultCACertificates([...before, authority.cert])
  open.defer(() => setDefaultCACertificates(before))
  plain = open.use(await RedisServer.start())
  guarded = open.use(await RedisServer.start('--requirepass', password))
})
afterAll(() => open.disposeAsync())

/** Of a Redis that speaks TLS with this certificate, beside the port without. */
async function secured(certified: Certified, name: string): Promise<number> {
  const port = await freePort(20_000, 8_000)
  const [cert, key] = [join(directory, `${name}.pem`), join(directory, `${name}.key`)]
  writeFileSync(cert, certified.cert)
  writeFileSync(key, certified.key)
  const tls = ['--tls-port', String(port), '--tls-cert-file', cert, '--tls-key-file', key, '--tls-auth-clients', 'no']
  open.use(await RedisServer.start(...tls, '--tls-ca-cert-file', cert))
  return port
}

/** What the first lines say of a URL. */
async function troubleWith(url: string): Promise<string> {
  const lines: string[] = []
  const connection = await openRedis(url, 'swapgate', freshLookup, ({ cause, message }) => void lines.push(`${cause}: ${message}`))
  onTestFinished(() => connection.close())
  await expect.poll(() => lines.length).toBeGreaterThan(0)
  return lines[0] ?? ''
}

test.each<readonly [string, () => Promise<string> | string, RegExp]>([
  [
    'a wrong password',
    () => guarded.url.replace('//', `//:${password}-wrong@`),
    /^credentials: .*rejects the user or the password; correct them in redis\.url/,
  ],
  ['an unknown user', () => guarded.url.replace('//', `//nobody:${password}@`), /rejects the user or the password/],
  ['no password', () => guarded.url, /^credentials: .*wants a password; write it in redis\.url/],
  ['a closed port', async () => `redis://127.0.0.1:${await freePort(20_000, 8_000)}`, /^refused: nothing listens .* redis\.url/],
  [
    'TLS at a server that has none',
    () => plain.url.replace('redis:', 'rediss:'),
    /^(?:not_tls|timed_out): .*TLS there.*redis in place of rediss/,
  ],
  [
    'no TLS at a server that wants it',
    async () => `redis://localhost:${await secured(certify({ name: 'localhost', issuer: authority }), 'good')}`,
    /^reset: .*TLS alone there: write rediss in place of redis/,
  ],
  [
    'a certificate past its end',
    async () => {
      const past = { from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) }
      return `rediss://localhost:${await secured(certify({ name: 'localhost', issuer: authority, ...past }), 'past')}`
    },
    /^tls_expired: .*certificate is past its end/,
  ],
  [
    'a certificate of another authority',
    async () => `rediss://localhost:${await secured(certify({ name: 'localhost' }), 'own')}`,
    /^tls_untrusted: .*authority that is not known here; .*NODE_EXTRA_CA_CERTS/,
  ],
  [
    'a certificate of another name',
    async () => `rediss://localhost:${await secured(certify({ name: 'other.test', issuer: authority }), 'other')}`,
    /^tls_wrong_name: .*certificate is of another name; .*redis\.url/,
  ],
])('%s', async (_, urlOf, line) => {
  const trouble = await troubleWith(await urlOf())
  expect(trouble).toMatch(line)
  expect(trouble).not.toContain('canary')
})

test.each(['redis', 'rediss'])('a second error of one socket, over %s, ends nothing', async (scheme) => {
  const client = createClient(parseRedisUrl(`${scheme}://localhost:${await freePort(20_000, 8_000)}`), freshLookup) as Redis
  onTestFinished(() => client.disconnect())
  const failed = once(client, 'error')
  client.connect().catch(() => {})
  await failed
  const { stream } = client as unknown as { readonly stream: Socket }
  expect(() => stream.emit('error', new Error('an alert after the end'))).not.toThrow()
})

test('a gateway starts all the same, and has one such line in its log at the start and one when the password is changed', async () => {
  const alpha = await startFormA()
  const redis = await RedisServer.start('--requirepass', 'right')
  onTestFinished(async () => {
    await alpha.close()
    await redis[Symbol.asyncDispose]()
  })
  const gatewayWith = (secret: string) =>
    InProcessGateway.start({
      ...{ directory: mkdtempSync(join(directory, 'gateway-')), mode: 'managed' },
      providers: { alpha: { form: 'A', url: alpha.url, key: 'provider-key-1' } },
      sections: { redis: { url: redis.url.replace('//', `//:${secret}@`) } },
    })
  const rejected = {
    level: 'warn',
    event: 'store_trouble',
    store: 'redis',
    cause: 'credentials',
    message: expect.stringMatching(/rejects the user/),
  }
  const troubles = ({ output }: InProcessGateway) => logLines(output).filter(({ event }) => event === 'store_trouble')
  await using wrong = await gatewayWith(password)
  await expect.poll(() => troubles(wrong)).toMatchObject([rejected])
  // The client tries four times a second.
  const tries = async (): Promise<number> =>
    Number(
      /^swapgate_store_troubles_total\{store="redis",cause="credentials"\} (\d+)$/m.exec(
        await (await fetch(`${wrong.adminUrl}/metrics`)).text(),
      )?.[1],
    )
  await expect.poll(tries).toBeGreaterThan(2)
  expect(troubles(wrong)).toHaveLength(1)
  expect(wrong.output).not.toContain('canary')
  await using right = await gatewayWith('right')
  expect(troubles(right)).toEqual([])
  await redis.kill()
  await redis.start('--requirepass', 'changed')
  await expect.poll(() => troubles(right).at(-1)).toMatchObject(rejected)
})
