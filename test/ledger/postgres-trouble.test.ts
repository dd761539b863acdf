// Takes long: it starts a PostgreSQL server of its own.
/** docs/ledger.md: what is wrong with PostgreSQL, or with the way to it, is one line that says what to set. */
import { spawn } from 'node:child_process'
import { chownSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { openLedger } from '../../src/ledger/index.ts'
import { type Certified, certify } from '../support/certificate.ts'
import { freePort } from '../support/free-port.ts'
import { memoryDirectory } from '../support/memory-directory.ts'
import { execute, hasPostgresPrograms, type OwnPostgres, startOwnPostgres, until } from '../support/postgres-server.ts'
import { programOf } from '../support/program.ts'
import { intent } from './samples.ts'

const day = 86_400_000
const password = 'canary-password'

let directory: string
let authority: Certified
let plain: OwnPostgres
let secure: OwnPostgres
let expired: OwnPostgres

/** A file that the server, which is another user, may read. */
function file(name: string, content: string): string {
  const path = join(directory, name)
  writeFileSync(path, content, { mode: 0o600 })
  if (process.getuid?.() === 0) chownSync(path, 65_534, 65_534)
  return path
}

const withTls = ({ name, cert, key }: Certified): Promise<OwnPostgres> =>
  startOwnPostgres(['ssl=on', `ssl_cert_file=${file(`${name}.pem`, cert)}`, `ssl_key_file=${file(`${name}.key`, key)}`])

/** The URL of the server, with these parts in place of its own. */
function at(
  { url }: OwnPostgres,
  parts: Partial<Record<'hostname' | 'username' | 'password' | 'pathname' | 'search', string>>,
): string {
  return Object.assign(new URL(url), { hostname: 'localhost', ...parts }).href
}

const trusting = (sslmode: string): string => `?sslmode=${sslmode}&sslrootcert=${join(directory, 'authority.pem')}`

/** What the start says; undefined if it opens. */
async function refusal(url: string): Promise<string | undefined> {
  const opened = await openLedger(url).catch((reason: Error) => reason.message)
  if (typeof opened === 'string') return opened
  await opened.close()
  return undefined
}

describe.runIf(hasPostgresPrograms)('a start', () => {
  beforeAll(async () => {
    directory = mkdtempSync(join(memoryDirectory(), 'swapgate-postgres-tls-'))
    if (process.getuid?.() === 0) chownSync(directory, 65_534, 65_534)
    authority = certify({ name: 'Authority of the test' })
    file('authority.pem', authority.cert)
    const past = { from: new Date(Date.now() - 2 * day), until: new Date(Date.now() - day) }
    ;[plain, secure, expired] = await Promise.all([
      startOwnPostgres(),
      withTls(certify({ name: 'localhost', issuer: authority })),
      withTls(Object.assign(certify({ name: 'localhost', issuer: authority, ...past }), { name: 'expired' })),
    ])
    await execute(plain.url, `CREATE ROLE acme LOGIN PASSWORD '${password}'`)
  }, 60_000)
  afterAll(async () => {
    await Promise.all([plain, secure, expired].map((server) => server?.close()))
    rmSync(directory, { recursive: true, force: true })
  })

  test('sslmode=require of a provider of databases, with its authority in sslrootcert, opens the ledger without a warning', async () => {
    const warnings: Error[] = []
    const listen = (warning: Error): void => void warnings.push(warning)
    process.on('warning', listen)
    onTestFinished(() => void process.off('warning', listen))
    for (const sslmode of ['require', 'verify-full']) {
      expect(await refusal(at(secure, { search: trusting(sslmode) }))).toBeUndefined()
    }
    expect(warnings.filter(({ message }) => /ssl/i.test(message))).toEqual([])
  })

  const cases: readonly (readonly [string, () => string, RegExp])[] = [
    ['without the authority', () => at(secure, { search: '?sslmode=require' }), /authority .*sslrootcert=.* ledger\.url/],
    [
      'with a file of an authority that is not there',
      () => at(secure, { search: '?sslmode=require&sslrootcert=/nowhere/ca.pem' }),
      /the file \/nowhere\/ca\.pem, which ledger\.url names, cannot be read \(ENOENT\); correct sslrootcert/,
    ],
    [
      'with a certificate of another name',
      () => at(secure, { hostname: '127.0.0.1', search: trusting('verify-full') }),
      /certificate is of another name; .*host in ledger\.url/,
    ],
    ['with a certificate past its end', () => at(expired, { search: trusting('require') }), /certificate is past its end/],
    [
      'with TLS at a server that has none',
      () => at(plain, { search: '?sslmode=require' }),
      /does not speak TLS; take sslmode out of ledger\.url/,
    ],
  ]
  test.each(cases)('%s', async (_, url, line) => {
    const message = await refusal(url())
    expect(message).toMatch(line)
    expect(message).not.toContain('\n')
  })

  test('an unknown user, a wrong password, and a server that wants TLS', async () => {
    const [{ file: rules } = {}] = await execute(secure.url, 'select setting as file from pg_settings where name = $$hba_file$$')
    await execute(secure.url, `CREATE ROLE acme LOGIN PASSWORD '${password}'`)
    writeFileSync(
      String(rules),
      'hostssl all acme 0.0.0.0/0 scram-sha-256\nhost all postgres 0.0.0.0/0 trust\nhostssl all nobody 0.0.0.0/0 scram-sha-256\n',
    )
    await execute(secure.url, 'select pg_reload_conf()')
    const as = (username: string, secret: string, search = trusting('require')): string =>
      at(secure, { username, password: secret, search })
    await until(async () => /without TLS/.test(String(await refusal(as('acme', password, '')))))
    expect(await refusal(as('acme', password, ''))).toMatch(
      /does not accept this user without TLS; add sslmode=verify-full to ledger\.url/,
    )
    for (const url of [as('acme', `${password}-wrong`), as('nobody', password)]) {
      const message = await refusal(url)
      expect(message).toMatch(/rejects the user or the password; correct them in ledger\.url/)
      expect(message).not.toContain(password)
    }
  })

  test('that waits for a lock says after some seconds what it waits for, and who holds it', { timeout: 30_000 }, async () => {
    const holding = new pg.Client({ connectionString: plain.url, application_name: 'nightly dump' })
    await holding.connect()
    await holding.query('begin; select pg_advisory_xact_lock(7927081172026)')
    const [{ pid } = {}] = (await holding.query('select pg_backend_pid() as pid')).rows
    const lines: string[] = []
    const opening = openLedger(plain.url, { onTrouble: ({ cause, message }) => void lines.push(`${cause}: ${message}`) })
    await expect
      .poll(() => lines)
      .toEqual([
        expect.stringMatching(
          new RegExp(
            `^locked: the ledger waits for the advisory lock, which session ${pid} \\(application nightly dump, user postgres, idle in transaction, for \\d+ s\\) holds: .*pg_terminate_backend\\(${pid}\\)$`,
          ),
        ),
      ])
    await holding.query('commit')
    await (await opening).close()
    await holding.end()
    expect(lines).toHaveLength(1)
  })

  test('at run time a password that was changed is told, once, and not shown', { timeout: 30_000 }, async () => {
    const [{ file: rules } = {}] = await execute(plain.url, 'select setting as file from pg_settings where name = $$hba_file$$')
    const lines: string[] = []
    await execute(plain.url, 'CREATE DATABASE of_acme OWNER acme')
    const url = at(plain, { username: 'acme', password, pathname: '/of_acme' })
    const opened = await openLedger(url, { onTrouble: ({ cause, message }) => void lines.push(`${cause}: ${message}`) })
    onTestFinished(() => opened.close())
    writeFileSync(
      String(rules),
      'host all acme 0.0.0.0/0 scram-sha-256\nhost all acme ::1/128 scram-sha-256\nhost all postgres 0.0.0.0/0 trust\n',
    )
    await execute(
      plain.url,
      `select pg_reload_conf(); ALTER ROLE acme PASSWORD 'another'; select pg_terminate_backend(pid) from pg_stat_activity where usename = 'acme'`,
    )
    await expect
      .poll(async () => {
        await opened.ledgerAdmin.gauges().catch(() => {})
        return lines
      })
      .toContain('credentials: the server rejects the user or the password; correct them in ledger.url')
    expect(lines.join()).not.toContain(password)
  })

  test('a server that takes no writes any more is told, while reads go on', { timeout: 30_000 }, async () => {
    const lines: string[] = []
    await execute(plain.url, 'CREATE DATABASE of_readers')
    const opened = await openLedger(at(plain, { pathname: '/of_readers' }), {
      onTrouble: ({ cause, message }) => void lines.push(`${cause}: ${message}`),
    })
    onTestFinished(() => opened.close())
    await execute(plain.url, 'ALTER SYSTEM SET default_transaction_read_only = on')
    await execute(plain.url, 'select pg_reload_conf()')
    await expect.poll(() => opened.ledger.begin(intent()).catch(() => 'refused')).toBe('refused')
    expect(await opened.ledger.find('owner', 'alpha', 'x')).toBeUndefined()
    expect(new Set(lines)).toEqual(
      new Set(['read_only: the server is read-only; make it take writes, or name the one that does in ledger.url']),
    )
    await execute(plain.url, 'ALTER SYSTEM RESET default_transaction_read_only')
    await execute(plain.url, 'select pg_reload_conf()')
  })

  test('PgBouncer that does not know a start parameter', { timeout: 120_000 }, async () => {
    const program = await programOf({ names: ['pgbouncer'], package: 'pgbouncer' })
    const port = await freePort(20_000, 8_000)
    const { port: behind } = new URL(plain.url)
    const users = file('users.txt', '"postgres" ""\n')
    const settings = (ignored: string): string =>
      file(
        'pgbouncer.ini',
        [
          '[databases]',
          `postgres = host=127.0.0.1 port=${behind}`,
          '[pgbouncer]',
          `listen_port = ${port}`,
          'listen_addr = 127.0.0.1',
          'auth_type = trust',
          `auth_file = ${users}`,
          'unix_socket_dir =',
          `ignore_startup_parameters = ${ignored}`,
          '',
        ].join('\n'),
      )
    const run = (ignored: string) => {
      const identity = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {}
      const child = spawn(program, [settings(ignored)], { ...identity, stdio: 'ignore' })
      onTestFinished(() => void child.kill('SIGKILL'))
      return child
    }
    const url = `postgres://postgres@127.0.0.1:${port}/postgres`
    const strict = run('')
    await until(async () => /ignore_startup_parameters/.test(String(await refusal(url))))
    expect(await refusal(url)).toMatch(
      /PgBouncer does not know a parameter; set ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout/,
    )
    expect(await refusal(url.replace('postgres@', 'stranger@'))).toMatch(/PgBouncer|rejects the user/)
    strict.kill('SIGKILL')
    run('statement_timeout,idle_in_transaction_session_timeout')
    await until(async () => (await refusal(url)) === undefined)
  })
})
