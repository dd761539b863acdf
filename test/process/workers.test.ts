/** Several processes behind one public port (`server.workers`), with one port for operators. */
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { withTimeout } from '../../src/domain/async.ts'
import { readJournal } from '../checker/provider/journal.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { Gateways, type StartedGateway } from './gateways.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1'
const settings = { server: { port: 0, workers: 2, shutdownDelay: 0 }, cache: { rate: 60 } }

let gateways: Gateways
let gateway: StartedGateway

async function start(sections: Readonly<Record<string, unknown>> = {}): Promise<void> {
  gateways = await Gateways.prepare({ ...settings, ...sections })
  gateway = await gateways.start()
}

/** Ids of the processes that the command has started. */
function workerIds(): readonly number[] {
  const { pid } = gateway.process.child
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

/** Each over a connection of its own, so that the system gives some to each worker. */
function fetchMany(count: number, path = quote): Promise<readonly Response[]> {
  const send = (): Promise<Response> => fetch(gateway.url + path, { headers: { connection: 'close' } })
  return Promise.all(Array.from({ length: count }, send))
}

async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${gateway.adminUrl}/metrics`)).text()
  const values = text.split('\n').filter((line) => line.startsWith(name) && /[ {]/.test(line.charAt(name.length)))
  return values.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}

describe('two workers (of Linux)', () => {
  afterEach(() => gateways[Symbol.asyncDispose]())

  it('admit together exactly as many requests as the limit, without Redis', async () => {
    await start({ limits: { quotes: 40, create: 10, read: 10 } })
    const responses = await fetchMany(100)
    expect(responses.filter(({ status }) => status === 429).length).toBe(60)
    expect(responses.filter(({ status }) => status === 200).length).toBe(40)
    const remaining = responses
      .filter(({ status }) => status === 200)
      .map(({ headers }) => /r=(\d+)/.exec(headers.get('ratelimit') ?? '')?.[1])
    expect(new Set(remaining).size).toBe(40)
  })

  it('admit together no more than the limit while Redis is lost', async () => {
    await start({ limits: { quotes: 30, create: 10, read: 10 }, redis: { url: 'redis://127.0.0.1:1' } })
    const admitted = (await fetchMany(100)).filter(({ status }) => status === 200).length
    expect(admitted).toBeGreaterThan(0)
    expect(admitted).toBeLessThanOrEqual(30)
  })

  it('are counted as one at the port for operators', async () => {
    await start()
    const responses = await fetchMany(100)
    expect(responses.map(({ status }) => status)).toEqual(Array.from({ length: 100 }, () => 200))
    expect([await metric('swapgate_requests_total'), await metric('swapgate_workers')]).toEqual([100, 2])
    expect(await metric('http_server_request_duration_seconds_count')).toBe(100)
    expect(await metric('swapgate_build_info')).toBe(1)
  })

  it('have as many requests in flight as both together', async () => {
    await start()
    const acme = await gateways.customer('acme', 'A')
    const inFlight = (): Promise<number> => metric('swapgate_requests_in_flight')
    expect([await inFlight(), await metric('swapgate_requests_waiting')]).toEqual([0, 0])
    await gateways.provider.fault({ times: 12, held: true })
    const creating = Array.from({ length: 12 }, () => acme.create(gateway.url, gateways.order()))
    await expect.poll(inFlight, { interval: 20 }).toBe(12)
    await gateways.provider.heal()
    expect((await Promise.all(creating)).map((made) => made?.status)).toEqual(creating.map(() => 201))
    expect(await inFlight()).toBe(0)
  })

  it('are both told of another configuration, and the one that is refused changes neither', async () => {
    await start({ limits: { quotes: 1_000, create: 10, read: 10 } })
    const file = join(gateways.directory, 'gateway.yaml')
    const limitsOf = async (): Promise<ReadonlySet<string | undefined>> =>
      new Set((await fetchMany(40)).map(({ headers }) => /q=(\d+)/.exec(headers.get('ratelimit-policy') ?? '')?.[1]))
    expect(await limitsOf()).toEqual(new Set(['1000']))
    const before = readFileSync(file, 'utf8')
    writeFileSync(file, before.replace('"quotes":1000,', '"quotes":2000,'))
    gateway.process.child.kill('SIGHUP')
    await vi.waitFor(async () => expect(await limitsOf()).toEqual(new Set(['2000'])), { timeout: eventTimeoutMs })
    writeFileSync(file, before.replace('"quotes":1000,', '"quotes":-1,'))
    gateway.process.child.kill('SIGHUP')
    await vi.waitFor(() => expect(gateway.process.outputText()).toContain('"result":"refused"'), { timeout: eventTimeoutMs })
    expect(await limitsOf()).toEqual(new Set(['2000']))
    const applied = gateway.process.outputText().split('"event":"reload","result":"applied"').length - 1
    expect(applied).toBe(1)
  })

  /** When it returns, those that listen are others than before. */
  const replaceAll = async (): Promise<void> => {
    for (const kills of [1, 2]) {
      process.kill(workerIds()[0] as number, 'SIGKILL')
      await expect.poll(() => metric('swapgate_worker_ends_total')).toBe(kills)
      await expect.poll(() => metric('swapgate_workers')).toBe(2)
    }
    await untilOneListens()
  }
  const untilOneListens = () => vi.waitUntil(() => fetchMany(1).catch(() => undefined), { timeout: eventTimeoutMs })
  const logged = (line: string) =>
    vi.waitFor(() => expect(gateway.process.outputText()).toContain(line), { timeout: eventTimeoutMs })

  it('that take the place of others have the ledger of all, whatever the file says of the next start', async () => {
    await start()
    const acme = await gateways.customer('acme', 'A')
    const file = join(gateways.directory, 'gateway.yaml')
    const other = join(gateways.directory, 'other.db')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace('ledger.db', 'other.db').replace('"read":1000000', '"read":2000000'))
    await logged('"event":"reload","result":"applied"')
    const order = gateways.order()
    const create = () => acme.create(gateway.url, order, { idempotencyKey: 'one' })
    const first = await create()
    await replaceAll()
    const again = await Promise.all(Array.from({ length: 20 }, create))
    expect(new Set(again.map((made) => made?.text))).toEqual(new Set([first?.text]))
    expect(existsSync(other)).toBe(false)
  })

  it('are started again while the file is not valid, with what is in force', async () => {
    await start({ limits: { quotes: 1_000, create: 10, read: 10 } })
    writeFileSync(join(gateways.directory, 'gateway.yaml'), 'limits: {')
    await logged('"event":"reload","result":"refused"')
    await replaceAll()
    const policies = (await fetchMany(20)).map(({ headers }) => headers.get('ratelimit-policy'))
    expect(policies).toEqual(Array.from({ length: 20 }, () => '"quotes";q=1000;w=60'))
  })

  it('lose no create and make none twice when one is killed over and over, and each is started again', {
    timeout: 120_000,
  }, async () => {
    await start()
    const customers = [await gateways.customer('acme', 'A'), await gateways.customer('globex', 'B')]
    await gateways.provider.fault({ times: 1_000_000, delay: 30 })
    let isOver = false
    const create = async (customer: (typeof customers)[number]): Promise<void> => {
      while (!isOver) {
        const order = gateways.order()
        const options = { idempotencyKey: order.withdrawalAddress }
        const hasAnswer = async (): Promise<boolean> => {
          const made = await customer.create(gateway.url, order, options).catch(() => undefined)
          return made !== undefined && made.status < 300
        }
        // Of a create that a killed worker had begun, the provider's list shows what became of it.
        await vi.waitUntil(async () => isOver || (await hasAnswer()), { timeout: 60_000, interval: 200 })
      }
    }
    const load = customers.flatMap((customer) => [1, 2, 3].map(() => create(customer)))
    for (let kills = 1; kills <= 3; kills++) {
      const { length } = gateways.history.operations
      await expect.poll(() => gateways.history.operations.length).toBeGreaterThan(length + 12)
      const ids = workerIds()
      process.kill(ids[kills % ids.length] as number, 'SIGKILL')
      await expect.poll(() => metric('swapgate_worker_ends_total')).toBe(kills)
      await expect.poll(() => workerIds().length).toBe(2)
      await untilOneListens()
    }
    isOver = true
    await Promise.all(load)
    expect(gateway.process.outputText().match(/"event":"worker_ended"/g)).toHaveLength(3)
    expect(await gateways.violations(gateway, customers)).toEqual([])
  })

  it('never count back when both end', async () => {
    await start()
    await fetchMany(60)
    const before = await metric('swapgate_requests_total')
    for (const id of workerIds()) process.kill(id, 'SIGKILL')
    await expect.poll(() => metric('swapgate_worker_ends_total')).toBe(2)
    expect([before, await metric('swapgate_requests_total')]).toEqual([60, 60])
  })

  it('are started as soon as the system has room for a process again', async () => {
    await start()
    const { pid } = gateway.process.child
    const limitFiles = (limit: string) => execFileSync('prlimit', ['--pid', String(pid), `--nofile=${limit}`])
    limitFiles('1:')
    process.kill(workerIds()[0] as number, 'SIGKILL')
    await logged('"ended":"no process"')
    limitFiles('1024:')
    await expect.poll(() => workerIds().length).toBe(2)
    expect((await fetchMany(20)).map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  })

  it('finish what is in flight at SIGTERM, and all processes end with 0', async () => {
    await start()
    const acme = await gateways.customer('acme', 'A')
    await gateways.provider.fault({ times: 1, delay: 1_000 })
    const creating = acme.create(gateway.url, gateways.order())
    const ids = workerIds()
    await expect.poll(() => readJournal(gateways.provider.settings.journal).length).toBeGreaterThan(0)
    gateway.process.child.kill('SIGTERM')
    const inTime = <Result>(work: Promise<Result>, what: string): Promise<Result> =>
      withTimeout(work, 20_000, () => {
        const running = ids.filter((id) => existsSync(`/proc/${id}`))
        throw new Error(`${what}; workers that run: ${running}; the output:\n${gateway.process.outputText()}`)
      })
    expect((await inTime(creating, 'the create has no response'))?.status).toBe(201)
    const ended = await inTime(gateway.process.ended, 'the primary has not ended')
    expect(ended).toMatchObject({ exitCode: 0, complaints: '' })
    for (const id of ids) expect(() => process.kill(id, 0)).toThrow('ESRCH')
  })

  it('end when the primary is killed', async () => {
    await start()
    const ids = workerIds()
    gateway.process.child.kill('SIGKILL')
    await gateway.process.ended
    await vi.waitFor(
      () => {
        for (const id of ids) expect(() => process.kill(id, 0)).toThrow('ESRCH')
      },
      { timeout: eventTimeoutMs },
    )
  })
})

describe('the port of workers', () => {
  let directory: ConfigDirectory
  beforeEach(() => {
    directory = new ConfigDirectory()
  })
  afterEach(() => directory[Symbol.dispose]())

  const configured = (server: string): string =>
    directory.write(
      `server: { ${server} }\nadmin: { port: 0 }\nproviders: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }\nrouting: { providers: [alpha] }`,
    )

  it('is not shared with another program: one line says so', async () => {
    const other = createServer().listen(0, '127.0.0.1')
    await vi.waitUntil(() => other.listening, { timeout: eventTimeoutMs })
    const { port } = other.address() as AddressInfo
    await using swapgate = new Swapgate(['start', '--config', configured(`port: ${port}, workers: 2`)])
    const { exitCode, err } = await swapgate.ended
    expect([exitCode, err.trim()]).toEqual([1, `swapgate: server: cannot listen on 127.0.0.1 port ${port}: the port is in use`])
    other.close()
  })

  it.each(['0', '65', 'many', '-1'])('workers: %s is a fault that names the key', async (workers) => {
    await using swapgate = new Swapgate(['start', '--config', configured(`port: 0, workers: ${workers}`)])
    const { exitCode, err } = await swapgate.ended
    expect(exitCode).toBe(1)
    expect(err).toContain('server.workers: must be auto or an integer from 1 to 64')
  })

  it('auto is a process for each core', async () => {
    await using swapgate = new Swapgate(['start', '--config', configured('port: 0, workers: auto')])
    const urls = await swapgate.urls()
    expect((await fetch(`${urls.get('form A')}/api/v2/nowhere`)).status).toBe(404)
  })
})
