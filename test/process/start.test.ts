import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { tokenHelp } from '../../src/operator/start-token.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { freePort } from '../support/free-port.ts'
import { olderNode } from '../support/older-node.ts'
import { ConfigDirectory, Swapgate, sourceProgram } from './swapgate.ts'

let directory: ConfigDirectory
beforeEach(() => {
  directory = new ConfigDirectory()
})
afterEach(() => directory[Symbol.dispose]())

const freePorts = 'server: { port: 0, shutdownDelay: 0 }\nadmin: { port: 0 }\n'
const alpha = 'providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }\nrouting: { providers: [alpha] }\n'

async function status(url: string): Promise<number> {
  return (await fetch(url)).status
}

describe('swapgate start', () => {
  it('with the host :: listens on all addresses of IPv6 and IPv4', async () => {
    const hosts = 'server: { host: "::", port: 0, shutdownDelay: 0 }\nadmin: { host: "::", port: 0 }\n'
    await using swapgate = new Swapgate(['start', '--config', directory.write(`${hosts}${alpha}`)], { cwd: directory.path })
    const urls = await swapgate.urls()
    for (const name of ['gateway', 'admin']) {
      const { port } = new URL(urls.get(name) ?? '')
      expect(await Promise.all(['[::1]', '127.0.0.1'].map((host) => status(`http://${host}:${port}/docs`)))).toEqual(
        name === 'gateway' ? [200, 200] : [404, 404],
      )
    }
  })

  it('prints where it listens, and its warnings', async () => {
    const file = directory.write(`${freePorts}${alpha}sandbox: { enabled: true, port: 0 }`)
    await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
    const urls = await swapgate.urls()
    const gateway = urls.get('gateway') ?? ''
    expect([...urls.keys()]).toEqual(['gateway', 'form A', 'form B', 'form exolix', 'docs', 'admin', 'sandbox'])
    expect([urls.get('form A'), urls.get('form B')]).toEqual([`${gateway}/a`, `${gateway}/b`])
    expect(await status(`${urls.get('sandbox')}/b/api/v2/currencies`)).toBe(200)
    swapgate.child.kill('SIGTERM')
    const { exitCode, out, complaints } = await swapgate.ended
    expect([exitCode, complaints]).toEqual([0, ''])
    // What is told of changes of the table depends on the day.
    const warnings = out
      .trim()
      .split('\n')
      .slice(1)
      .filter((line) => !line.startsWith('warning: assets: '))
    expect(warnings).toEqual([
      expect.stringMatching(/^warning: limits are per process/),
      expect.stringMatching(/^warning: the sandbox .* keys are public/),
      `warning: ledger.url: a new ledger was made: ${join(directory.path, 'data/swapgate.db')}. If there was one before, this is not it`,
      ...tokenHelp,
    ])
  })

  it('warns of a new ledger once', async () => {
    const file = directory.write(`${freePorts}${alpha}`)
    const warningsOf = async (): Promise<readonly string[]> => {
      await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
      await swapgate.urls()
      swapgate.child.kill('SIGTERM')
      return (await swapgate.ended).out.split('\n').filter((line) => line.includes('a new ledger'))
    }
    expect(await warningsOf()).toHaveLength(1)
    expect(await warningsOf()).toEqual([])
  })

  it('with ledger.mustExist ends with 1 where there is no ledger, and makes none', async () => {
    const file = directory.write(`${freePorts}${alpha}ledger: { mustExist: true }`)
    await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
    const { exitCode, out, err } = await swapgate.ended
    const ledger = join(directory.path, 'data/swapgate.db')
    expect([exitCode, out]).toEqual([1, ''])
    expect(err).toBe(
      `swapgate: The ledger in ${ledger} cannot be opened: it does not exist, and ledger.mustExist is true; correct ledger.url, or mount its volume.\n`,
    )
    expect(existsSync(ledger)).toBe(false)
  })

  it('D6: keeps health and metrics on the admin port, away from clients', async () => {
    await using swapgate = new Swapgate(['start', '--config', directory.write(`${freePorts}${alpha}`)])
    const urls = await swapgate.urls()
    const gateway = urls.get('gateway')
    const admin = urls.get('admin')
    for (const path of ['livez', 'readyz', 'metrics']) {
      expect(await status(`${admin}/${path}`)).toBe(200)
      expect(await status(`${gateway}/${path}`)).toBe(404)
    }
    const missing = await fetch(`${admin}/a/api/v2/currencies`)
    expect(missing.status).toBe(404)
    expect(await missing.json()).toMatchObject({ code: 404 })
  })

  it('counts the fields that a response lacks, by form', async () => {
    const sandbox = createServer().listen(0, '127.0.0.1')
    await once(sandbox, 'listening')
    const { port } = sandbox.address() as AddressInfo
    sandbox.close()
    const provider = `providers: { beta: { form: B, url: "http://127.0.0.1:${port}/b/api/v2" } }\nrouting: { providers: [beta] }\n`
    const file = directory.write(`${freePorts}${provider}sandbox: { enabled: true, port: ${port} }`)
    await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
    const urls = await swapgate.urls()
    expect(await status(`${urls.get('form A')}/api/v2/currencies`)).toBe(200)
    const metrics = await (await fetch(`${urls.get('admin')}/metrics`)).text()
    expect(metrics).toMatch(
      /^swapgate_response_fields_total\{what="omitted",client_form="A",provider_form="B",field="depositMin"\} 1$/m,
    )
  })

  it('D7: prints every error of its configuration and ends with 1', async () => {
    const file = directory.write('server: { port: x }\nproviders: {}\nrouting: { providers: [alpha] }\ncolour: red\nlog: [')
    await using swapgate = new Swapgate(['start', '--config', file])
    const { exitCode, out, err } = await swapgate.ended
    expect([exitCode, out]).toEqual([1, ''])
    expect(err.trim().split('\n')).toEqual([
      `swapgate: ${file} has 4 faults:`,
      '  server.port: must be an integer from 0 to 65535 (line 1)',
      '  routing.providers.0: is not in providers (line 3)',
      '  colour: is not a key of the configuration (line 4)',
      '  log: is not YAML: bad indent (line 5)',
    ])
  })

  it('D7: names each field that is wrong, and shows no value', async () => {
    const file = directory.write(`
server: { port: 0 }
providers:
  alpha: { form: A, url: "https://user:canary-password@alpha.example/api", assets: { BTC: { coin: [canary-network] } } }
  beta: { form: B, url: "https://beta.example/api" }
  delta: { form: B, url: "https://delta.example/api", tag: beta }
  gamma: { form: B, url: "http://gamma.example/api", key: canary-key }
limits: { create: 0 }
routing: { providers: [] }
`)
    await using swapgate = new Swapgate(['start', '--config', file])
    const { exitCode, out, err } = await swapgate.ended
    expect([exitCode, out]).toEqual([1, ''])
    expect(err).not.toContain('canary')
    const [, ...faults] = err.trim().split('\n')
    expect(faults.map((fault) => fault.trim().split(': ')[0]).toSorted()).toEqual([
      'limits.create',
      'providers.alpha.assets.BTC',
      'providers.alpha.url',
      'providers.delta.tag',
      'providers.gamma.url',
      'routing.providers',
    ])
  })

  it('S14: repeats no secret in the place of a name, at a start or in a check', async () => {
    const secret = 'canary_live_51H8xQ2eZvKYlo2C'
    const file = directory.write(`
${secret}: 1
server: { port: 0, ${secret}: 1 }
providers:
  alpha: { form: A, url: "https://alpha.example/api", "${secret}" }
  ${secret}: { form: "\${${secret}}", url: nowhere, statuses: { ${secret}: nothing }, assets: { ${secret}: [1] } }
routing: { providers: [alpha], colour: red }
`)
    for (const command of [['start'], ['check'], ['check', '--json']]) {
      await using swapgate = new Swapgate([...command, '--config', file])
      const { exitCode, out, err } = await swapgate.ended
      expect([exitCode, out.includes('canary'), err.includes('canary')]).toEqual([1, false, false])
      expect(out + err).toContain('<28 characters>')
      expect(out + err).toContain('routing.colour')
    }
  })

  it('prints in one line that a port is in use and ends with 1, with nothing left open', async () => {
    const holder = createServer().listen(0, '127.0.0.1')
    await once(holder, 'listening')
    const { port } = holder.address() as AddressInfo
    const file = directory.write(`server: { port: ${port} }\nadmin: { port: 0 }\n${alpha}sandbox: { enabled: true, port: 0 }`)
    await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory.path })
    const { exitCode, err } = await swapgate.ended
    holder.close()
    expect([exitCode, err]).toEqual([1, `swapgate: server: cannot listen on 127.0.0.1 port ${port}: the port is in use\n`])
  })

  it('prints in one line that the sandbox cannot store its state, and ends with 1', async () => {
    const file = directory.write(`${freePorts}${alpha}sandbox: { enabled: true, port: 0, data: /dev/null/sandbox.db }`)
    await using swapgate = new Swapgate(['start', '--config', file])
    const { exitCode, err } = await swapgate.ended
    expect(exitCode).toBe(1)
    expect(err).toMatch(
      /^swapgate: sandbox: E[A-Z]+: .*; correct sandbox\.data, or give this user write access to its directory\n$/,
    )
  })
})

it('swapgate check --json prints one JSON document and nothing else', async () => {
  await using swapgate = new Swapgate(['check', '--json', '--config', directory.write(alpha)])
  const { exitCode, out, err } = await swapgate.ended
  expect([exitCode, err]).toEqual([0, ''])
  expect(JSON.parse(out)).toMatchObject({ ok: true, routing: ['alpha'] })
})

it('wrong usage ends with 2', async () => {
  await using swapgate = new Swapgate(['strat'])
  expect((await swapgate.ended).exitCode).toBe(2)
  await using tooHigh = new Swapgate(['start', '--port', '65536'])
  expect(await tooHigh.ended).toMatchObject({ exitCode: 2, err: expect.stringContaining('It must be a port from 0 to 65535.') })
})

it.each([1, 2])(
  'with %i workers --port and --admin-port count in place of those of the file, also after a reload',
  async (workers) => {
    const file = directory.write(`server: { port: 1, shutdownDelay: 0, workers: ${workers} }\nadmin: { port: 2 }\n${alpha}`)
    await using swapgate = new Swapgate(['start', '--port', '0', '--admin-port', '0', '--config', file])
    const urls = await swapgate.urls()
    expect(await status(`${urls.get('admin')}/readyz`)).toBe(200)
    expect(await status(`${urls.get('gateway')}/nowhere`)).toBe(404)
    swapgate.child.kill('SIGHUP')
    await vi.waitFor(() => expect(swapgate.outputText()).toContain('was read again'), eventTimeoutMs)
    expect(swapgate.outputText()).not.toContain('after a restart')
  },
)

it('--sandbox-port counts in place of sandbox.port, and in the URLs of its providers', async () => {
  const port = await freePort(28_000, 1_000)
  const provider = 'providers: { alpha: { form: A, url: "http://127.0.0.1:9101/a/api/v2" } }\nrouting: { providers: [alpha] }\n'
  const file = directory.write(`${freePorts}${provider}sandbox: { enabled: true, data: "${directory.path}/sandbox.db" }\n`)
  await using swapgate = new Swapgate(['start', '--sandbox-port', String(port), '--config', file])
  const urls = await swapgate.urls()
  expect(urls.get('sandbox')).toBe(`http://127.0.0.1:${port}`)
  expect(await status(`${urls.get('gateway')}/a/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=0.1`)).toBe(200)
})

it('one port for both is a fault of the configuration', async () => {
  const file = directory.write(`${freePorts}${alpha}`)
  await using swapgate = new Swapgate(['start', '--port', '9', '--admin-port', '9', '--config', file])
  expect(await swapgate.ended).toMatchObject({ exitCode: 1, err: expect.stringContaining('admin.port: is the port of server') })
})

it('a clone without its packages says how to install them, in one line, on any Node', async () => {
  const clone = join(directory.path, 'clone/src/cli')
  cpSync(dirname(sourceProgram), clone, { recursive: true })
  writeFileSync(join(clone, '../../package.json'), '{"type":"module"}')
  for (const node of [process.execPath, ...(olderNode ? [olderNode] : [])]) {
    await using swapgate = new Swapgate(['start'], { node, program: join(clone, 'swapgate.js') })
    const { exitCode, err } = await swapgate.ended
    expect([exitCode, err]).toEqual([1, 'swapgate: its packages are not installed: run "npm ci" first\n'])
  }
})

it('the file is the one that SWAPGATE_CONFIG names, if no option does', async () => {
  const file = directory.write('colour: red')
  await using swapgate = new Swapgate(['check'], { env: { SWAPGATE_CONFIG: file } })
  expect((await swapgate.ended).err).toContain(`${file} has`)
})

it('without a name it is config/gateway.yaml of the folder, else that of the package, with a warning', async () => {
  const cwd = directory.path
  await using own = new Swapgate(['ledger', 'stats', '--json'], { cwd })
  const { exitCode, out, err } = await own.ended
  expect([exitCode, JSON.parse(out)]).toEqual([0, expect.anything()])
  expect(err).toMatch(/^swapgate: there is no config\/gateway.yaml here: [^\n]+\/config\/gateway.yaml\n$/)
  mkdirSync(`${cwd}/config`)
  writeFileSync(`${cwd}/config/gateway.yaml`, 'colour: red')
  await using check = new Swapgate(['check'], { cwd })
  expect((await check.ended).err).toContain('swapgate: config/gateway.yaml has')
})

it.runIf(olderNode)('an older Node gets an error with the version that is needed, in one line', async () => {
  await using version = new Swapgate(['check'], { node: String(olderNode) })
  const { exitCode, out, err } = await version.ended
  expect([exitCode, out]).toEqual([1, ''])
  expect(err).toMatch(/^swapgate needs Node 26 and this is \d+\.\d+\.\d+: .*\n$/)
})

it('the command, the library and package.json want the same Node', () => {
  const needed = ['src/cli/swapgate.js', 'src/library.js'].map(
    (file) => /^const needed = (\d+)$/m.exec(readFileSync(file, 'utf8'))?.[1],
  )
  expect(needed.map((major) => `>=${major}`)).toEqual([manifest.engines.node, manifest.engines.node])
})
