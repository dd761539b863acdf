/** A log that is not read delays nothing. */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, createReadStream, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { type Provider, startProvider } from '../checker/provider.ts'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { requestLines } from './log-lines.ts'
import { Scrape } from './scrape.ts'

const requests = 6_000
let directory: ConfigDirectory
let provider: Provider
let gateway: string
beforeEach(async () => {
  directory = new ConfigDirectory()
  provider = await startProvider({ form: 'A', name: 'alpha', keys: ['known-key'], journal: join(directory.path, 'journal') })
  gateway = `server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
limits: { read: 1000000, quotes: 1000000 }
providers: { alpha: { form: A, url: "${provider.url}" } }
routing: { providers: [alpha] }
`
})
afterEach(async () => {
  await provider[Symbol.asyncDispose]()
  directory[Symbol.dispose]()
})

/** A pipe that is not read. */
function deafPipe(): number {
  const path = join(directory.path, 'pipe')
  execFileSync('mkfifo', [path])
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
}

const fullDisk = (): number => openSync('/dev/full', 'w')

/** Lists of currencies from the cache. */
async function sendAllRequests(url: string): Promise<number> {
  let left = requests
  let responseCount = 0
  const headers = { authorization: 'Bearer known-key' }
  const work = async (): Promise<void> => {
    while (left-- > 0) if ((await sendRequest(url, { path: '/a/api/v2/currencies', headers })).status === 200) responseCount++
  }
  await Promise.all(Array.from({ length: 16 }, work))
  return responseCount
}

describe('X8', { timeout: 60_000 }, () => {
  it.each([
    ['a pipe without a reader', deafPipe],
    ['a disk that is full', fullDisk],
  ])(
    'with %s for a log every request gets its response, lost lines are counted, and the process ends as it should',
    async (_, open) => {
      const stderr = open()
      await using swapgate = new Swapgate(['start', '--config', directory.write(gateway)], { cwd: directory.path, stderr })
      const urls = await swapgate.urls()
      expect(await sendAllRequests(urls.get('gateway') as string)).toBe(requests)
      const scrape = new Scrape(await (await fetch(`${urls.get('admin')}/metrics`)).text())
      expect(scrape.sum('swapgate_requests_total')).toBe(requests)
      expect(scrape.sum('swapgate_log_lines_dropped_total')).toBeGreaterThan(100)
      const began = performance.now()
      swapgate.child.kill('SIGTERM')
      expect((await swapgate.ended).exitCode).toBe(0)
      expect(performance.now() - began).toBeLessThan(4_000)
      closeSync(stderr)
    },
  )

  it('with a reader that is slow only lines of successful reads are lost, each is counted, and SIGTERM writes all others', async () => {
    const stderr = deafPipe()
    await using swapgate = new Swapgate(['start', '--config', directory.write(gateway)], { cwd: directory.path, stderr })
    const urls = await swapgate.urls()
    const url = urls.get('gateway') as string
    expect(await sendAllRequests(url)).toBe(requests)
    const refused = Array.from({ length: 300 }, (_, at) => `refused-${at}`)
    for (const id of refused) await sendRequest(url, { path: '/a/api/v2/nowhere', headers: { 'x-request-id': id } })
    const headers = { 'x-request-id': 'failed', authorization: 'Bearer known-key' }
    await provider[Symbol.asyncDispose]()
    expect((await sendRequest(url, { path: '/a/api/v2/transactions/alpha~1', headers })).status).toBe(502)
    const dropped = new Scrape(await (await fetch(`${urls.get('admin')}/metrics`)).text()).sum('swapgate_log_lines_dropped_total')
    const reader = createReadStream('', { fd: openSync(join(directory.path, 'pipe'), 'r') })
    closeSync(stderr)
    swapgate.child.kill('SIGTERM')
    const lines = requestLines(await text(reader))
    expect((await swapgate.ended).exitCode).toBe(0)
    expect(dropped).toBeGreaterThan(100)
    expect(lines.filter(({ status }) => status === 200)).toHaveLength(requests - dropped)
    expect(lines.filter(({ status }) => status !== 200).map(({ request_id: id }) => id)).toEqual([...refused, 'failed'])
  })

  it('what was logged last is written before the process ends', async () => {
    await using swapgate = new Swapgate(['start', '--config', directory.write(gateway)], { cwd: directory.path })
    const url = (await swapgate.urls()).get('gateway') as string
    for (let number = 0; number < 20; number++)
      await sendRequest(url, { path: '/nowhere', headers: { 'x-request-id': `number-${number}` } })
    swapgate.child.kill('SIGTERM')
    const { err } = await swapgate.ended
    expect(err.match(/"request_id":"number-\d+"/g)).toHaveLength(20)
  })
})
