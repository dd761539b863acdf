/** A log that is not read delays nothing. */
import { execFileSync } from 'node:child_process'
import { closeSync, constants, openSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { Scrape } from './scrape.ts'

const gateway = `server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }
routing: { providers: [alpha] }
`
const requests = 6_000
let directory: ConfigDirectory
beforeEach(() => {
  directory = new ConfigDirectory()
})
afterEach(() => directory[Symbol.dispose]())

/** A pipe that is not read. */
function deafPipe(): number {
  const path = join(directory.path, 'pipe')
  execFileSync('mkfifo', [path])
  return openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
}

const fullDisk = (): number => openSync('/dev/full', 'w')

async function sendAllRequests(url: string): Promise<number> {
  let left = requests
  let responseCount = 0
  const work = async (): Promise<void> => {
    while (left-- > 0) if ((await sendRequest(url, { path: '/a/api/v2/nowhere' })).status === 404) responseCount++
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
