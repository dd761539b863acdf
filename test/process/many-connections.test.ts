/** More connections than may be; 20,000 with `npm run test:soak`, or as many as the system lets be opened. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { openFilesLimit } from '../../src/process/ports.ts'
import { usageOf } from '../soak/process-usage.ts'
import type { Opened } from './connection-opener.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const isSoak = process.env.SWAPGATE_SOAK !== undefined
/** Each opener is a process with an address of its own: ports and files are bounded for each. */
const openers = 4
const wanted = isSoak ? 20_000 : 200
const files = openFilesLimit() ?? wanted
const each = Math.min(wanted / openers, files - 200)
const most = isSoak ? 10_000 : 100

async function startOpener(port: number, at: number) {
  const program = join(import.meta.dirname, 'connection-opener.ts')
  const child = spawn(process.execPath, [program, String(port), String(each), `127.0.0.${at + 2}`], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const [line] = await once(child.stdout, 'data')
  const end = async (): Promise<void> => {
    child.stdin.end()
    await once(child, 'close')
  }
  return { opened: JSON.parse(String(line)) as Opened, end }
}

it('X2: more connections than allowed are closed, and the admin port responds', {
  timeout: isSoak ? 120_000 : 60_000,
}, async () => {
  using directory = new ConfigDirectory()
  const file = directory.write(`
server: { port: 0, connections: ${most} }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:9/api/v2" } }
routing: { providers: [alpha] }`)
  await using gateway = new Swapgate(['start', '--config', file])
  const urls = await gateway.urls()
  const [url = '', admin = ''] = [urls.get('gateway'), urls.get('admin')]
  const cap = Math.min(most, Math.floor(files / 2))

  const running = await Promise.all(Array.from({ length: openers }, (_, at) => startOpener(Number(new URL(url).port), at)))
  const held = running.reduce((sum, { opened }) => sum + opened.held, 0)
  const metrics = await fetch(`${admin}/metrics`)
  const open = usageOf(await metrics.text()).files
  const slowestClosedMs = Math.round(Math.max(...running.map(({ opened }) => opened.slowest)))
  console.info({ opened: openers * each, held, openFiles: open, of: files, slowestClosedMs })
  expect([openers * each > cap, held, metrics.status]).toEqual([true, cap, 200])
  expect(open).toBeLessThan(cap + 100)
  for (const path of ['/livez', '/readyz']) expect((await fetch(admin + path)).status).toBe(200)
  await expect(fetch(`${url}/nowhere`)).rejects.toThrow()

  await Promise.all(running.map(({ end }) => end()))
  const sendRequest = (): Promise<number> =>
    fetch(`${url}/nowhere`).then(
      ({ status }) => status,
      () => 0,
    )
  await expect.poll(sendRequest).toBe(404)
})

it('X2: a full admin port closes its idlest connection, so that a probe always comes in', async () => {
  using directory = new ConfigDirectory()
  const file = directory.write(`
server: { port: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:9/api/v2" } }
routing: { providers: [alpha] }`)
  await using gateway = new Swapgate(['start', '--config', file])
  const urls = await gateway.urls()
  const admin = urls.get('admin') ?? ''
  const { port, hostname } = new URL(admin)
  const sockets = Array.from({ length: 80 }, () => connect(Number(port), hostname).on('error', () => {}))
  await expect.poll(() => sockets.filter(({ destroyed }) => destroyed).length).toBe(80 - Math.min(64, Math.floor(files / 2)))
  for (const path of ['/livez', '/readyz', '/metrics']) {
    expect((await fetch(admin + path, { headers: { connection: 'close' } })).status).toBe(200)
  }
  expect((await fetch(`${urls.get('gateway')}/nowhere`)).status).toBe(404)
  for (const socket of sockets) socket.destroy()
})
