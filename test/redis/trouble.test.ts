/** docs/limits.md: what is wrong with Redis, or with the way to it, is one line in the log that says what to set. */
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import type { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { redisTroubleOf } from '../../src/adapters/redis/diagnosis.ts'
import { createClient, openRedis } from '../../src/adapters/redis/index.ts'
import type { Observation } from '../../src/domain/observation.ts'
import { parseRedisUrl } from '../../src/domain/redis-url.ts'
import { freshLookup } from '../../src/process/name-lookup.ts'
import { reportTrouble } from '../../src/process/store-trouble.ts'
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

/** The URL of a Redis with these settings. */
async function configured(...settings: readonly string[]): Promise<string> {
  return open.use(await RedisServer.start(...settings)).url
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

test.each<readonly [string, () => Promise<string>, RegExp]>([
  [
    'a database that is not there',
    async () => `${await configured()}/99`,
    /^no_database: .*\(it says: ERR DB index is out of range\)$/,
  ],
  [
    'a SELECT that is renamed',
    async () => `${await configured(...renamed('SELECT'))}/3`,
    /^no_command: it has no SELECT.*rename-command/,
  ],
  ['an INFO that is renamed', () => configured(...renamed('INFO')), /^no_command: it has no INFO.*unknown command 'info'\)$/],
  [
    'no free connection',
    () => configured('--maxclients', '1').then(occupied),
    /^connections: .*maxclients.*\(it says: ERR max number/,
  ],
  [
    'protected mode',
    () => configured('--bind', '*', '--protected-mode', 'yes').then(fromElsewhere),
    /^credentials: .*protected mode/,
  ],
])('%s, told at the connection: no other cause, and no other database', async (_, urlOf, line) => {
  const lines = new Set<string>()
  const connection = await openRedis(await urlOf(), 'swapgate', freshLookup, ({ cause, message }) =>
    lines.add(`${cause}: ${message}`),
  )
  onTestFinished(() => connection.close())
  await expect.poll(() => [...lines]).toMatchObject([expect.stringMatching(line)])
  await expect(connection.dataId()).rejects.toThrow()
  expect([...lines]).toMatchObject([expect.stringMatching(line)])
})

function renamed(command: string): readonly string[] {
  return ['--rename-command', command, '']
}

/** Its only connection is taken. */
async function occupied(url: string): Promise<string> {
  const other = connect(Number(new URL(url).port), '127.0.0.1')
  open.defer(() => void other.destroy())
  await once(other, 'connect')
  return url
}

/** Not by loopback. */
function fromElsewhere(url: string): string {
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  return url.replace('127.0.0.1', addresses.find(({ family, internal }) => family === 'IPv4' && !internal)?.address ?? '')
}

test.each<readonly [string, readonly string[], RegExp]>([
  [
    'min-replicas-to-write',
    ['--min-replicas-to-write', '1'],
    /^replicas: .*min-replicas-to-write.*\(it says: NOREPLICAS Not enough good replicas to write\.\)$/,
  ],
  ['EVAL renamed', renamed('EVAL'), /^no_command: it has no EVAL, .*unknown command 'eval'\)$/],
  ['EVALSHA renamed', renamed('EVALSHA'), /^no_command: it has no EVALSHA, .*unknown command 'evalsha'\)$/],
  ['TIME renamed', renamed('TIME'), /^no_command: it has no TIME, /],
  ['ZADD renamed', renamed('ZADD'), /^no_command: it has no ZADD, /],
  [
    'a replica',
    ['--replicaof', '127.0.0.1 1'],
    /^read_only: .*\(it says: READONLY You can't write against a read only replica\.\)$/,
  ],
  [
    'a replica without its master',
    ['--replicaof', '127.0.0.1 1', '--replica-serve-stale-data', 'no'],
    /^read_only: .*\(it says: MASTERDOWN /,
  ],
  ['a node of a cluster', ['--cluster-enabled', 'yes'], /^cluster: .*\(it says: CLUSTERDOWN /],
])('%s, told by the first check', async (_, settings, line) => {
  const lines: string[] = []
  const connection = await openRedis(await configured(...settings), 'swapgate', freshLookup, ({ cause, message }) =>
    lines.push(`${cause}: ${message}`),
  )
  onTestFinished(() => connection.close())
  await expect(connection.dataId()).rejects.toThrow()
  expect(lines).toMatchObject([expect.stringMatching(line)])
})

test("the words of Redis are on one short line, without a password, the gateway's keys and what else it repeats", () => {
  const address = parseRedisUrl('redis+sentinel://gw:canary-one@localhost/group?sentinel=s:canary-two')
  const saying = (message: string) => redisTroubleOf(new Error(message), address, 'swapgate').message
  expect(saying("ERR unknown command 'AUTH', with args beginning with: 'gw' 'canary-one' ")).toBe(
    "it has no AUTH, which swapgate needs; take its rename-command out of the configuration there (it says: ERR unknown command 'AUTH')",
  )
  expect(saying("NEW 'canary-one' or canary-two\r\n\u001B[2Jof key 'swapgate:verified:secret' \u202Eis gone")).toBe(
    "it cannot be used (it says: NEW '…' or … [2Jof key … is gone)",
  )
  expect(saying(`NEW ${'x '.repeat(1_000)}`).length).toBeLessThan(220)
  expect(
    saying(
      "ERR ACL failure in script: User gw has no permissions to run the 'time' command script: 0123456789012345678901234567890123456789, on @user_script:2.",
    ),
  ).toBe(
    "the user of redis.url may not run TIME; allow it there, as in the ACL of docs/limits.md (it says: ERR ACL failure in script: User gw has no permissions to run the 'time' command)",
  )
})

test('what differs each time is ten lines a minute', () => {
  const seen: Observation[] = []
  const report = reportTrouble('redis', (observation) => seen.push(observation))
  for (let at = 0; at < 100; at++) for (const message of [`failure ${at}`, 'the same']) report({ cause: 'other', message })
  expect(seen).toHaveLength(200)
  expect(seen.filter((each) => each.what === 'storeTrouble' && each.isNew)).toHaveLength(10)
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
  // A slow machine may have others.
  const troubles = ({ output }: InProcessGateway) =>
    logLines(output).filter(({ event, cause }) => event === 'store_trouble' && cause === 'credentials')
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
