import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { Agent, get, type IncomingMessage } from 'node:http'
import { connect } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { startFormA } from '../support/form-a.ts'
import { type HeldProvider, heldProvider } from './provider.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

let directory: ConfigDirectory
let provider: HeldProvider
beforeEach(async () => {
  directory = new ConfigDirectory()
  provider = await heldProvider()
})
afterEach(async () => {
  await provider[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
})

/** A running gateway in front of the held provider. */
async function started(server: string, env: Record<string, string> = {}) {
  const file = directory.write(
    `server: { port: 0, ${server} }\nadmin: { port: 0 }\nproviders: { alpha: { form: A, url: "${provider.url}" } }\nrouting: { providers: [alpha] }`,
  )
  const swapgate = new Swapgate(['start', '--config', file], { env })
  const urls = await swapgate.urls()
  return {
    swapgate,
    /** The provider holds its response. */
    currencies: `${urls.get('form A')}/api/v2/currencies`,
    /** 404 at once. */
    nowhere: `${urls.get('gateway')}/nowhere`,
    ready: `${urls.get('admin')}/readyz`,
  }
}

interface StatusAndHeaders {
  readonly status: number | undefined
  readonly connection: string | undefined
  readonly body: string
}

function sendRequest(url: string, agent: Agent | false = false): Promise<StatusAndHeaders> {
  return new Promise((resolve, reject) => {
    const read = async (response: IncomingMessage): Promise<void> => {
      const body = Buffer.concat(await response.toArray()).toString()
      resolve({ status: response.statusCode, connection: response.headers.connection, body })
    }
    get(url, { agent }, (response) => void read(response).catch(reject)).on('error', reject)
  })
}

/** The first signal has been handled. */
const notReady = (ready: string): Promise<void> =>
  vi.waitFor(async () => expect((await sendRequest(ready)).status).toBe(503), { interval: 10, timeout: eventTimeoutMs })

/** Requests until the provider holds one: a busy machine sheds some. */
async function held(url: string, agent: Agent | false = false): Promise<{ readonly response: Promise<StatusAndHeaders> }> {
  for (;;) {
    const response = sendRequest(url, agent)
    response.catch(() => {}) // awaited by some tests only
    const isHeld = await Promise.race([provider.requested.then(() => true), response.then(() => false)])
    if (isHeld) return { response }
  }
}

describe('a gateway that gets a signal to end', () => {
  it('D1: turns clients away before its port closes, and ends with 0', async () => {
    const { swapgate, nowhere, ready } = await started('shutdownDelay: 3')
    await using gateway = swapgate
    expect((await sendRequest(ready)).status).toBe(200)
    gateway.child.kill('SIGTERM')
    await notReady(ready)
    const late = await sendRequest(nowhere, new Agent({ keepAlive: true }))
    expect([late.status, late.connection]).toEqual([404, 'close'])
    expect(await gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
  })

  it('D1: finishes what is in flight after its port has closed, and ends with 0', async () => {
    const { swapgate, currencies, nowhere, ready } = await started('shutdownDelay: 0.1')
    await using gateway = swapgate
    const { response: inFlight } = await held(currencies, new Agent({ keepAlive: true }))
    gateway.child.kill('SIGTERM')
    await vi.waitFor(() => expect(sendRequest(nowhere)).rejects.toThrow('ECONNREFUSED'), { timeout: eventTimeoutMs, interval: 50 })
    expect((await sendRequest(ready)).status).toBe(503)
    provider.release()
    const finished = await inFlight
    expect([finished.status, finished.connection]).toEqual([200, 'close'])
    expect(JSON.parse(finished.body).data).toHaveLength(1)
    expect(await gateway.ended).toMatchObject({ exitCode: 0, complaints: '' })
  })

  it.each(['SIGTERM', 'SIGINT'] as const)(
    'D1: ends soon on %s if nothing is in flight, with any open connections',
    async (signal) => {
      const { swapgate, nowhere } = await started('shutdownDelay: 0, drain: 20')
      await using gateway = swapgate
      await sendRequest(nowhere, new Agent({ keepAlive: true }))
      const { hostname, port } = new URL(nowhere)
      const silent = connect({ host: hostname, port: Number(port) })
      await once(silent, 'connect')
      const began = performance.now()
      gateway.child.kill(signal)
      expect((await gateway.ended).exitCode).toBe(0)
      expect(performance.now() - began).toBeLessThan(8_000) // and does not wait for the drain
      silent.destroy()
    },
  )

  it('waits no longer than server.drain', async () => {
    const { swapgate, currencies } = await started('shutdownDelay: 0, drain: 0.3')
    await using gateway = swapgate
    const { response: inFlight } = await held(currencies)
    const began = performance.now()
    gateway.child.kill('SIGTERM')
    expect((await gateway.ended).exitCode).toBe(0)
    expect(performance.now() - began).toBeLessThan(8_000)
    await expect(inFlight).rejects.toThrow()
  })

  it('D3: ends at once on a second signal', async () => {
    const { swapgate, currencies, ready } = await started('shutdownDelay: 60, drain: 60')
    await using gateway = swapgate
    const { response: inFlight } = await held(currencies)
    gateway.child.kill('SIGTERM')
    await notReady(ready)
    await setTimeout(600) // a sooner one counts as the same (src/process/shutdown-signal.test.ts)
    gateway.child.kill('SIGTERM')
    const { exitCode, complaints } = await gateway.ended
    expect([exitCode, complaints]).toEqual([1, 'swapgate: ended at once; no create was in flight\n'])
    await expect(inFlight).rejects.toThrow()
  })

  it.each([1, 2])('with %i workers names the creates in flight, in one line, when a second signal ends it', async (workers) => {
    const alpha = await startFormA()
    onTestFinished(() => alpha.close())
    alpha.reply('create', { after: new Promise(() => {}) })
    const file = directory.write(
      `server: { port: 0, shutdownDelay: 60, drain: 60, workers: ${workers} }\nadmin: { port: 0 }\nproviders: { alpha: { form: A, url: "${alpha.url}", timeout: 60 } }\nrouting: { providers: [alpha] }`,
    )
    await using gateway = new Swapgate(['start', '--config', file])
    const urls = await gateway.urls()
    const url = urls.get('form A')
    const order = { coinFrom: 'ETH', coinTo: 'BTC', amount: 0.1, withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }
    const headers = { authorization: 'Bearer canary-client-key-1', 'content-type': 'application/json' }
    const create = () =>
      fetch(`${url}/api/v2/transactions`, { method: 'POST', headers, body: JSON.stringify(order) }).catch(() => {})
    const creates = [create(), create()]
    await vi.waitFor(() => expect(alpha.received('create')).toHaveLength(2), { timeout: eventTimeoutMs })
    gateway.child.kill('SIGINT')
    await notReady(`${urls.get('admin')}/readyz`)
    await setTimeout(600)
    gateway.child.kill('SIGINT')
    const { exitCode, complaints } = await gateway.ended
    const database = new DatabaseSync(join(directory.path, 'data/swapgate.db'))
    const intents = database.prepare('SELECT intent FROM transactions').all()
    database.close()
    const [, named = '', ...more] = /^swapgate: ended at once; creates were in flight[^:]+: (.+)\n$/.exec(complaints) ?? []
    expect([exitCode, more]).toEqual([1, []])
    expect(named.split(', ').toSorted()).toEqual(intents.map(({ intent }) => `alpha ${intent}`).toSorted())
    expect(intents).toHaveLength(2)
    await Promise.all(creates)
  })

  it.each([
    ['a promise that is rejected', "Promise.reject(new Error('lost in thought'))"],
    ['a timer that throws', "setTimeout(() => { throw new Error('lost in thought') })"],
    ['a listener that throws', "{ throw new Error('lost in thought') }"],
  ])('X10: after %s it logs which, finishes what is in flight, and ends with 1', async (_, failure) => {
    const failing = join(directory.path, 'failing.mjs')
    writeFileSync(failing, `process.on('SIGUSR2', () => ${failure})`)
    const { swapgate, currencies, nowhere } = await started('shutdownDelay: 0', { NODE_OPTIONS: `--import=${failing}` })
    await using gateway = swapgate
    const { response: inFlight } = await held(currencies)
    gateway.child.kill('SIGUSR2')
    await vi.waitFor(() => expect(sendRequest(nowhere)).rejects.toThrow('ECONNREFUSED'), { interval: 20, timeout: eventTimeoutMs })
    provider.release()
    expect((await inFlight).status).toBe(200)
    const { exitCode, err } = await gateway.ended
    expect(exitCode).toBe(1)
    const { event, message, error } = JSON.parse(err.split('\n').find((line) => line.startsWith('{"level":"fatal"')) ?? '{}')
    expect([event, message]).toEqual(['failure', 'unhandled failure'])
    expect([error.message, error.stack[0]]).toEqual(['lost in thought', expect.stringContaining('failing.mjs')])
  })
})
