/** docs/contract-operators.md §13: `swapgate init` with options, with piped answers, and with both. */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Swapgate } from '../process/swapgate.ts'
import { runCommand } from '../support/command.ts'

const key = 'a-key-of-the-provider-1'
const env = { ALPHA_KEY: key, SWAPGATE_CONFIG: '' }
const clone = process.cwd()
let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-init-'))
  process.chdir(directory)
  for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value)
})
afterEach(() => {
  vi.unstubAllEnvs()
  process.chdir(clone)
  rmSync(directory, { recursive: true })
})

async function swapgate(args: readonly string[], answers: readonly string[] = []) {
  const { exitCode, out, err } = await runCommand(args, answers)
  const text = (lines: readonly string[]): string => lines.map((line) => `${line}\n`).join('')
  return { exitCode, out: text(out), err: text(err) }
}

function configuration(): string {
  return readFileSync(join(directory, 'config/gateway.yaml'), 'utf8')
}

/** What `check` and `start` report of it. */
async function checked(...args: readonly string[]): Promise<Record<string, unknown>> {
  const { exitCode, out, err } = await swapgate(['check', '--json', ...args])
  expect([exitCode, err]).toEqual([0, ''])
  return JSON.parse(out)
}

const given = { '--form': 'b', '--url': 'https://beta.example/api/v2', '--key': 'ALPHA_KEY' }
const flags = Object.entries(given).flat()

/** The same with these in place of those of the same name. */
function flagsWith(others: readonly string[]): readonly string[] {
  return [...Object.entries(given).flatMap((flag) => (others.includes(flag[0]) ? [] : flag)), ...others]
}

describe('what is written passes check', () => {
  it('by options: no prompt, and defaults for the others', async () => {
    const { exitCode, out, err } = await swapgate([
      ...['init', ...flags, '--mode', 'managed', '--port', '8090', '--require-idempotency-key', 'no'],
    ])
    expect([exitCode, err]).toEqual([0, ''])
    expect(out).toMatch(/^Written: config\/gateway\.yaml, config\/assets\.yaml\.\nNext: swapgate providers try alpha\n/)
    const report = await checked()
    expect(report).toMatchObject({
      ok: true,
      mode: 'managed',
      routing: ['alpha'],
      providers: [{ name: 'alpha', tag: 'alpha', form: 'B' }],
    })
    expect(Number(report.assets)).toBeGreaterThan(100)
    expect(configuration()).toMatch(/^ {2}port: 8090$/m)
    expect(configuration()).toMatch(/^ {2}requireIdempotencyKey: false$/m)
  })

  it('by answers, one line each, also those of a pipe', async () => {
    const answers = ['exolix', 'https://exolix.example/api/v2', '', 'ALPHA_KEY', '', 'no']
    await using running = new Swapgate(['init'], { env, cwd: directory })
    running.child.stdin?.end(answers.map((answer) => `${answer}\n`).join(''))
    const { exitCode, out, err } = await running.ended
    expect([exitCode, err.trim().split('\n').length]).toEqual([0, 6])
    expect(configuration()).toMatch(/^ {2}requireIdempotencyKey: false$/m)
    expect(err).toMatch(/^Form of the provider's API: A, B, .*exolix.*:$/m)
    expect(err).toMatch(/^Port of the gateway \[8080\]:$/m)
    expect(out).toMatch(/^Written: /)
    expect(await checked()).toMatchObject({ mode: 'managed', providers: [{ name: 'alpha', form: 'exolix' }] })
  })

  it('a form that sends the address of clients needs a yes, as an answer or as an option', async () => {
    const given = ['--form', 'sideshift', ...flags.slice(2), '--mode', 'managed', '--port', '8080', '--setting', 'affiliateId=abc']
    expect((await swapgate(['init', ...given, '--forward-address'])).exitCode).toBe(0)
    expect(configuration()).toMatch(/^ {4}forwardAddress: true$/m)
    const result = await swapgate(['init', '--config', 'other.yaml', ...given], ['yes'])
    expect([result.exitCode, result.err]).toEqual([0, expect.stringContaining('the address of each client')])
    const refused = await swapgate(['init', '--config', 'third.yaml', ...given], ['no'])
    expect([refused.exitCode, refused.err]).toEqual([1, expect.stringContaining('it must be yes')])
    expect(existsSync(join(directory, 'third.yaml'))).toBe(false)
  })

  it('settings that the form needs are prompted for, or given as options', async () => {
    const answers = ['letsexchange', 'https://lets.example/api', 'managed', 'ALPHA_KEY', '8080', 'affiliate "7"']
    expect((await swapgate(['init'], answers)).exitCode).toBe(0)
    expect(await checked()).toMatchObject({ ok: true })
    expect(configuration()).toContain('"affiliateId": "affiliate \\"7\\""')
    const other = ['--config', 'other.yaml', '--setting', 'affiliateId=abc=1', '--form', 'letsexchange', ...flags.slice(2)]
    expect((await swapgate(['init', ...other])).exitCode).toBe(0)
    expect(readFileSync(join(directory, 'other.yaml'), 'utf8')).toContain('"affiliateId": "abc=1"')
  })

  it('a secret that the form signs with is prompted for, or given as an option, and never written', async () => {
    const answers = ['fixedfloat', 'https://ff.example/api/v2', 'managed', 'ALPHA_KEY', 'ALPHA_KEY', '8080']
    expect((await swapgate(['init'], answers)).exitCode).toBe(0)
    expect(configuration()).toMatch(/^ {4}secret: "\$\{ALPHA_KEY\}"$/m)
    expect(await checked()).toMatchObject({ ok: true })
    const given = ['--form', 'fixedfloat', ...flags.slice(2), '--mode', 'managed', '--port', '8080']
    const result = await swapgate(['init', '--config', 'other.yaml', ...given, '--secret', 'not-a-variable'])
    expect([result.exitCode, result.err]).toEqual([1, expect.stringContaining('--secret: it must be the name of')])
  })

  it('options answer some questions, and the input the others', async () => {
    const { exitCode, err } = await swapgate(['init', ...flags.slice(0, 4)], ['passthrough', 'none', '0'])
    expect([exitCode, err.trim().split('\n').length]).toEqual([0, 4])
    expect(configuration()).toMatch(/^ {2}requireIdempotencyKey: true$/m)
    expect(await checked()).toMatchObject({ mode: 'passthrough' })
    expect(configuration()).not.toMatch(/^ +key:/m)
  })

  it('a file of the key is named by its whole path, and never read into the configuration', async () => {
    writeFileSync(join(directory, 'key.txt'), `${key}\n`)
    expect((await swapgate(['init', ...flags.slice(0, 4), '--key', 'key.txt'])).exitCode).toBe(0)
    expect(configuration()).toMatch(/^ {4}key: "\$\{file:\/.*key\.txt\}"$/m)
    expect(configuration()).not.toContain(key)
    expect(await checked()).toMatchObject({ ok: true })
  })

  it('--json prints one document', async () => {
    const { out } = await swapgate(['init', ...flags, '--json'])
    const files = ['config/gateway.yaml', 'config/assets.yaml']
    expect(JSON.parse(out)).toEqual({ file: files[0], written: files, provider: 'alpha' })
  })

  it('after a try of the default configuration in the folder the provider has a name that the ledger does not know', async () => {
    const ports = ['--port', '0', '--admin-port', '0']
    writeFileSync(
      join(directory, 'try.yaml'),
      readFileSync(join(clone, 'config/gateway.yaml'), 'utf8')
        .replace('port: 9101', 'port: 0')
        .replace('assets.yaml', `${clone}/config/assets.yaml`),
    )
    await using tried = new Swapgate(['start', '--config', join(directory, 'try.yaml'), ...ports], { env, cwd: directory })
    await tried.urls()
    const { exitCode, out } = await swapgate(['init', ...flags])
    expect([exitCode, out]).toEqual([0, expect.stringContaining('Next: swapgate providers try gamma\n')])
    expect(await checked()).toMatchObject({ providers: [{ name: 'gamma', tag: 'gamma' }], routing: ['gamma'] })
  })

  it('an asset table that is there stays as it is', async () => {
    writeFileSync(join(directory, 'assets.yaml'), '- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }')
    const { out } = await swapgate(['init', ...flags, '--config', 'mine.yaml'])
    expect(out).toMatch(/^Written: mine\.yaml\.\nNext: swapgate providers try alpha --config mine\.yaml\n/)
    expect(await checked('--config', 'mine.yaml')).toMatchObject({ assets: 1 })
  })
})

describe('nothing is written', () => {
  const isEmpty = (): boolean =>
    readdirSync(directory).every((name) => name === 'config' && readdirSync(join(directory, name)).length === 0)

  it('over a file that exists', async () => {
    execFileSync('mkdir', ['config'], { cwd: directory })
    writeFileSync(join(directory, 'config/gateway.yaml'), 'mine')
    const { exitCode, out, err } = await swapgate(['init', ...flags])
    expect([exitCode, out, err]).toEqual([1, '', 'swapgate: config/gateway.yaml exists: it is not overwritten\n'])
    expect([configuration(), existsSync(join(directory, 'config/assets.yaml'))]).toEqual(['mine', false])
  })

  it.each([
    ['a key in clear', ['--key', key], /^swapgate: --key: it must be the name of an environment variable that is set/m],
    ['a variable that is not set', ['--key', 'OTHER_KEY'], /^swapgate: --key: it must be the name/m],
    ['a form that there is not', ['--form', 'c'], /^swapgate: --form: it must be one of A, B, /m],
    ['no URL', ['--url', 'beta.example'], /^swapgate: --url: it must be an http or https URL/m],
    ['another mode', ['--mode', 'both'], /^swapgate: --mode: /m],
    [
      'signatures that clients cannot send',
      ['--form', 'changelly', '--mode', 'passthrough'],
      /^swapgate: --mode: it must be managed/m,
    ],
    ['a key that cannot sign', ['--form', 'changelly'], /providers\.alpha\.key: must be a private RSA key/],
    ['the admin port', ['--port', '9090'], /^swapgate: --port: 9090 is the admin port/m],
    ['no port', ['--port', '65536'], /^swapgate: --port: /m],
    ['plain http with a key', ['--url', 'http://beta.example/api/v2'], /providers\.alpha\.url: must be https where a key is sent/],
    ['a setting of no use', ['--setting', 'affiliateId=1'], /settings\.affiliateId: is not a setting of the form B/],
    ['credentials in the URL', ['--url', 'https://user:secret@beta.example'], /must not hold credentials/],
  ])('for %s, and the message does not repeat it', async (_, wrong, message) => {
    const { exitCode, out, err } = await swapgate(['init', ...flagsWith(wrong)])
    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toMatch(message)
    expect(err).not.toMatch(new RegExp(`${key}|secret`))
    expect(isEmpty()).toBe(true)
  })

  it('below a file that is no directory', async () => {
    writeFileSync(join(directory, 'config'), 'a file')
    const { exitCode, err } = await swapgate(['init', ...flags])
    expect([exitCode, err.trim().split('\n').at(-1)]).toEqual([1, expect.stringMatching(/^swapgate: EEXIST: .*mkdir/)])
  })

  it('where an answer is missing that has no default', async () => {
    const { exitCode, err } = await swapgate(['init', '--form', 'A'])
    expect([exitCode, err.trim().split('\n').at(-1)]).toEqual([1, 'swapgate: --url is missing'])
    expect(isEmpty()).toBe(true)
  })

  it('a setting that is not like name=value is wrong usage', async () => {
    expect((await swapgate(['init', ...flags, '--setting', 'affiliateId'])).exitCode).toBe(2)
  })

  it('in passthrough mode without a key, where quotes need one', async () => {
    const args = ['--form', 'exolix', ...flags.slice(2, 4), '--mode', 'passthrough', '--key', 'none']
    expect((await swapgate(['init', ...args])).err).toMatch(/^swapgate: --key: /)
    expect(isEmpty()).toBe(true)
  })
})
