/** Workers that hang (`server.workers`). A stopped process is one: it holds its sockets and answers nobody. */
import { existsSync, readFileSync } from 'node:fs'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { Gateways, type StartedGateway } from './gateways.ts'

const quote = '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1'

let gateways: Gateways
let gateway: StartedGateway

/** `timeout`: of the provider, in seconds. A worker is killed five seconds after it. */
async function start(timeout: number): Promise<readonly number[]> {
  const server = { port: 0, workers: 3, shutdownDelay: 0 }
  gateways = await Gateways.prepare({ server, cache: { rate: 60 } }, { timeout })
  gateway = await gateways.start()
  return workerIds()
}

function workerIds(): readonly number[] {
  const { pid } = gateway.process.child
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').filter(Boolean).map(Number)
}

const stopped = new Set<number>()

/** One that has not seen that the primary has ended. */
function isStopped(id: number): boolean {
  return existsSync(`/proc/${id}/stat`) && / T /.test(readFileSync(`/proc/${id}/stat`, 'utf8'))
}

function signal(name: 'SIGSTOP' | 'SIGCONT', ids: readonly number[]): void {
  for (const id of ids) {
    process.kill(id, name)
    if (name === 'SIGSTOP') stopped.add(id)
  }
}

async function readiness(): Promise<{ readonly httpStatus: number; readonly silentWorkers?: readonly number[] }> {
  const response = await fetch(`${gateway.adminUrl}/readyz`)
  return { httpStatus: response.status, ...((await response.json()) as object) }
}

const untilSilent = (...ids: readonly number[]) =>
  vi.waitFor(async () => expect(new Set((await readiness()).silentWorkers)).toEqual(new Set(ids)), { timeout: eventTimeoutMs })

/** Each over a connection of its own, so that the system gives some to each worker. */
function statuses(count: number): Promise<readonly number[]> {
  const send = async (): Promise<number> => {
    const { status } = await fetch(gateway.url + quote, {
      headers: { connection: 'close' },
      signal: AbortSignal.timeout(eventTimeoutMs),
    })
    return status
  }
  return Promise.all(Array.from({ length: count }, send))
}

/** Connections to the public port that wait for a worker to accept them. */
function queued(): number {
  const port = Number(new URL(gateway.url).port).toString(16).toUpperCase().padStart(4, '0')
  const listening = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .flatMap((line) => new RegExp(`:${port} 00000000:0000 0A [0-9A-F]{8}:([0-9A-F]{8})`).exec(line)?.[1] ?? [])
  return listening.reduce((sum, count) => sum + Number.parseInt(count, 16), 0)
}

const all200 = (count: number): readonly number[] => Array.from({ length: count }, () => 200)

describe('a worker that hangs (of Linux)', { timeout: 60_000 }, () => {
  afterEach(async () => {
    await gateways[Symbol.asyncDispose]()
    for (const id of [...stopped].filter(isStopped)) process.kill(id, 'SIGKILL')
    stopped.clear()
  })

  it('has its new connections answered by the others, also those that waited for it, until it goes on', async () => {
    const [hung = 0, ...others] = await start(60)
    signal('SIGSTOP', [hung])
    const waiting = statuses(40)
    await untilSilent(hung)
    expect(await readiness()).toMatchObject({ httpStatus: 200, status: 'ready' })
    await vi.waitFor(() => expect(gateway.process.outputText()).toContain('"event":"worker_silent"'), { timeout: eventTimeoutMs })
    expect(await waiting).toEqual(all200(40))
    expect(await statuses(60)).toEqual(all200(60))
    signal('SIGCONT', [hung])
    await untilSilent()
    expect(await statuses(60)).toEqual(all200(60))
    signal('SIGSTOP', others)
    await untilSilent(...others)
    expect(await statuses(30)).toEqual(all200(30))
    signal('SIGCONT', others)
    await untilSilent()
    expect(new Set(workerIds())).toEqual(new Set([hung, ...others]))
  })

  it('or has ended leaves its waiting connections to the others, and then to the one that takes its place', async () => {
    const [hung = 0] = await start(60)
    signal('SIGSTOP', [hung])
    const waiting = statuses(40)
    await vi.waitFor(() => expect(queued()).toBeGreaterThan(0), { timeout: eventTimeoutMs })
    process.kill(hung, 'SIGKILL')
    expect(await waiting).toEqual(all200(40))
    const all: number[] = []
    while (workerIds().length < 3) all.push(...(await statuses(10)))
    for (let more = 0; more < 20; more++) all.push(...(await statuses(10)))
    expect(all).toEqual(all200(all.length))
  })

  it('is killed when no request can be under way in it, and another takes its place', async () => {
    const [hung = 0, ...others] = await start(1)
    signal('SIGSTOP', [hung])
    await vi.waitFor(() => expect(gateway.process.outputText()).toContain('"ended":"SIGKILL"'), { timeout: eventTimeoutMs })
    await vi.waitFor(() => expect(workerIds()).toHaveLength(3), { timeout: eventTimeoutMs })
    expect(workerIds()).toEqual(expect.arrayContaining([...others]))
    expect(workerIds()).not.toContain(hung)
    expect(await statuses(60)).toEqual(all200(60))
    await untilSilent()
  })

  it('is one of all: 503, and one after another is replaced', async () => {
    const hung = await start(2)
    signal('SIGSTOP', hung)
    await untilSilent(...hung)
    expect(await readiness()).toMatchObject({ httpStatus: 503, status: 'overloaded' })
    await vi.waitFor(async () => expect((await readiness()).httpStatus).toBe(200), { timeout: eventTimeoutMs })
    await vi.waitFor(() => expect(workerIds().filter((id) => !hung.includes(id))).toHaveLength(3), { timeout: eventTimeoutMs })
    const kills = [...gateway.process.outputText().matchAll(/"event":"worker_ended".*"running":(\d)/g)].map(
      ([, running]) => running,
    )
    expect(kills).toEqual(['2', '2', '2'])
    await untilSilent()
    expect(await statuses(60)).toEqual(all200(60))
  })

  it('is none where the whole machine stood still', async () => {
    const ids = await start(1)
    const primary = gateway.process.child.pid ?? 0
    signal('SIGSTOP', [primary, ...ids])
    await new Promise((resolve) => setTimeout(resolve, 8_000)) // longer than a worker may be silent
    signal('SIGCONT', [primary])
    signal('SIGCONT', ids)
    await untilSilent()
    expect(await statuses(60)).toEqual(all200(60))
    expect(new Set(workerIds())).toEqual(new Set(ids))
    expect(gateway.process.outputText()).not.toContain('worker_')
  })

  it('ends when the primary does, once it goes on', async () => {
    const [hung = 0, ...others] = await start(60)
    signal('SIGSTOP', [hung])
    await untilSilent(hung)
    gateway.process.child.kill('SIGKILL')
    signal('SIGCONT', [hung])
    await vi.waitFor(
      () => {
        for (const id of [hung, ...others]) expect(() => process.kill(id, 0)).toThrow('ESRCH')
      },
      { timeout: eventTimeoutMs },
    )
  })
})
