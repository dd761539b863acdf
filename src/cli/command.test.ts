import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { run } from './command.ts'

let folder: string
const file = (name: string): string => join(folder, name)

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'swapgate-cli-'))
  writeFileSync(file('assets.yaml'), '- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }')
  const provider = (url: string): string => `providers: { alpha: { form: A, url: "${url}" } }`
  const local = provider('http://127.0.0.1:9101/a/api/v2')
  writeFileSync(file('whole.yaml'), `${local}\nrouting: { providers: [alpha] }`)
  writeFileSync(file('faulty.yaml'), `${provider('nowhere')}\nrouting: { providers: [beta] }\nserver: { port: x }`)
  const two = local.replace('} }', '}, old: { form: A, url: "https://old.example/api/v2" } }')
  writeFileSync(file('open.yaml'), `${provider('http://swap.example/api/v2')}\nrouting: { providers: [alpha] }`)
  const ledger = `ledger: { mustExist: true, url: "sqlite:${file('ledger.db')}" }`
  writeFileSync(file('ledger.yaml'), `${local}\nrouting: { providers: [alpha] }\n${ledger}`)
  writeFileSync(file('native.yaml'), `${local.replace('form: A', 'form: A, native: [GET /a]')}\nrouting: { providers: [alpha] }`)
  const admin = `admin: { host: 0.0.0.0, tokens: { alice: "${'x'.repeat(32)}" } }`
  writeFileSync(file('operators.yaml'), `${local}\nrouting: { providers: [alpha] }\n${admin}`)
  writeFileSync(file('elsewhere.yaml'), `${two}\nrouting: { providers: [alpha], untagged: old }\ncache: { rate: 0 }`)
})
afterAll(() => rmSync(folder, { recursive: true }))

async function swapgate(...args: readonly string[]) {
  const out: string[] = []
  const err: string[] = []
  const stream = (): never => expect.fail('streamed')
  const input = (): never => expect.fail('read')
  const streams = { isTerminal: false, out: (line: string) => out.push(line), err: (line: string) => err.push(line), stream, input }
  const exitCode = await run(args, { ...streams, loss: async () => undefined, begin: () => {} })
  return { exitCode, out, err }
}

describe('swapgate check', () => {
  it('summarizes a valid configuration and prints its warnings', async () => {
    const { exitCode, out, err } = await swapgate('check', '--config', file('whole.yaml'))
    expect(exitCode).toBe(0)
    expect(err).toEqual([])
    expect(out.slice(0, 2)).toEqual([
      `${file('whole.yaml')} is valid: 1 coins, 1 assets, passthrough keys`,
      'providers: alpha (form A); routing: alpha',
    ])
    expect(out.slice(2).every((line) => line.startsWith('warning: '))).toBe(true)
    expect(out.join('\n')).toContain('limits are per process and reset on restart')
  })

  it('prints each fault with its path and line', async () => {
    const { exitCode, out, err } = await swapgate('check', '--config', file('faulty.yaml'))
    expect(exitCode).toBe(1)
    expect(out).toEqual([])
    expect(err).toEqual([
      `swapgate: ${file('faulty.yaml')} has 3 faults:`,
      '  providers.alpha.url: must be an http or https URL (line 1)',
      '  routing.providers.0: is not in providers (line 2)',
      '  server.port: must be an integer from 0 to 65535 (line 3)',
    ])
  })

  it('prints the faults as one JSON document', async () => {
    const { exitCode, out, err } = await swapgate('check', '--json', '--config', file('faulty.yaml'))
    expect(exitCode).toBe(1)
    expect(err).toEqual([])
    expect(out.map((line) => JSON.parse(line))).toEqual([
      {
        ok: false,
        file: file('faulty.yaml'),
        faults: [
          { path: 'providers.alpha.url', message: 'must be an http or https URL', line: 1 },
          { path: 'routing.providers.0', message: 'is not in providers', line: 2 },
          { path: 'server.port', message: 'must be an integer from 0 to 65535', line: 3 },
        ],
      },
    ])
  })

  it('prints the summary as one JSON document', async () => {
    const { exitCode, out } = await swapgate('check', '--json', '--config', file('whole.yaml'))
    expect(exitCode).toBe(0)
    expect(out.map((line) => JSON.parse(line))).toEqual([
      expect.objectContaining({ ok: true, providers: [{ name: 'alpha', tag: 'alpha', form: 'A' }], routing: ['alpha'], coins: 1 }),
    ])
  })

  it('warns if the provider of ids without a tag is not routed', async () => {
    const { out } = await swapgate('check', '--config', file('elsewhere.yaml'))
    expect(out).toContain('warning: routing.untagged: ids without a tag are answered 404, since old is not in routing.providers')
  })

  it('warns if clients’ keys go to a provider over plain http', async () => {
    const { out } = await swapgate('check', '--config', file('open.yaml'))
    expect(out).toContain("warning: clients' keys go to alpha over plain http")
  })

  it('W82: warns if the tokens of operators cross the network in plain http', async () => {
    const { out } = await swapgate('check', '--config', file('operators.yaml'))
    expect(out).toContain('warning: admin.tokens: tokens and keys cross the network in plain http, since admin.host is 0.0.0.0')
    expect((await swapgate('check', '--config', file('whole.yaml'))).out.join()).not.toContain('admin.tokens')
  })

  it('notices that nothing of a native lane is open to keys of the provider', async () => {
    const { out } = await swapgate('check', '--config', file('native.yaml'))
    expect(out).toContain(
      "warning: providers.alpha.native: of no effect with the provider's own keys: the native lane takes keys that you issue",
    )
  })

  it('reports a ledger that must exist and does not as a fault', async () => {
    const { exitCode, err } = await swapgate('check', '--config', file('ledger.yaml'))
    expect([exitCode, err[1]]).toEqual([1, '  ledger.mustExist: is true, and the file of ledger.url does not exist'])
  })

  it('reports a missing file as a fault', async () => {
    const { exitCode, err } = await swapgate('check', '--config', file('missing.yaml'))
    expect(exitCode).toBe(1)
    expect(err[1]).toBe(`  the file ${file('missing.yaml')} cannot be read (ENOENT)`)
  })
})

describe('wrong usage', () => {
  it.each([
    ['no command', []],
    ['an unknown command', ['stop']],
    ['an unknown option', ['check', '--quick']],
    ['an option without its value', ['check', '--config']],
    ['an excess argument', ['check', 'config/gateway.yaml']],
    ['a group without its command', ['keys']],
    ['an unknown command of a group', ['ledger', 'burn']],
    ['an option that is given twice', ['keys', 'create', '--name', 'acme', '--name', 'acme']],
    ['a flag that is given twice', ['check', '--json', '--json']],
    ['an option beside its opposite', ['ledger', 'found', 'assign', 'alpha~1', '--key', 'k', '--no-key', '--note', 'n']],
    ['an account that no path leads to', ['keys', 'create', '--name', '..']],
    ['limits of one', ['accounts', 'set', '.', '--read', '1']],
    ['a setting that is given twice', ['init', '--setting', 'refs=a', '--setting', 'refs=b']],
  ])('is %s: 2, with nothing on standard output', async (_, args) => {
    const { exitCode, out, err } = await swapgate(...args)
    expect(exitCode).toBe(2)
    expect(out).toEqual([])
    expect(err.length).toBeGreaterThan(0)
  })
})

it('prints its options and its version', async () => {
  const help = await swapgate('--help')
  expect(help.exitCode).toBe(0)
  expect(help.out.join('\n')).toContain('start [options]')
  expect(help.out.join('\n')).toContain('Exit codes: 0 done, 1 refused, faults found or output lost, 2 wrong usage.')
  expect((await swapgate()).err).toEqual(help.out)
  const start = await swapgate('start', '--help')
  for (const option of ['--port <port>', '--admin-port <port>', '--config <file>']) expect(start.out.join('\n')).toContain(option)
  expect(await swapgate('--version')).toEqual({ exitCode: 0, out: [expect.stringMatching(/^\d+\.\d+\.\d+$/)], err: [] })
})
