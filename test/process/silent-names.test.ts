/** Names about which no answer comes. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { ownLoad } from '../support/own-load.ts'
import { heldProvider } from './provider.ts'
import { silentSystem } from './silent-system.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

const names = Array.from({ length: 40 }, (_, at) => `p${at}.silent`)

test('U31: forty names without an answer do not harm a provider with one, and take half of the threads', async () => {
  await using provider = await heldProvider()
  using directory = new ConfigDirectory()
  const pipe = join(directory.path, 'pipe')
  execFileSync('mkfifo', [pipe])
  const url = new URL(provider.url)
  url.hostname = 'localhost'
  const silent = names.map((name, at) => `p${at}: { form: A, key: k, url: "https://${name}/api/v2", timeout: 4 }`)
  const file = directory.write(`
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
providers:
  good: { form: A, key: k, url: "${url.href}" }
  ${silent.join('\n  ')}
auth: { mode: managed }
ledger: { url: "sqlite::memory:" }
routing: { strategy: best, providers: [good, ${names.map((_, at) => `p${at}`).join(', ')}] }
`)
  await using swapgate = new Swapgate(['start', '--config', file], {
    env: { NODE_OPTIONS: `--import=${silentSystem(pipe)} ${ownLoad}` },
  })
  const urls = await swapgate.urls()
  const pending = sendRequest(urls.get('gateway') ?? '', { path: '/a/api/v2/currencies' })
  await provider.requested
  provider.release()
  expect((await pending).status).toBe(200)
  const page = await fetch(`${urls.get('gateway')}/docs`) // compressed by a thread of the pool
  expect([page.status, page.headers.get('content-encoding')]).toEqual([200, 'gzip'])
  const metrics = await (await fetch(`${urls.get('admin')}/metrics`)).text()
  const refused = metrics.matchAll(/unreachable_total\{provider="(p\d+)",cause="dns_timeout"\} [1-9]/g)
  expect(new Set([...refused].map(([, name]) => `${name}.silent`))).toEqual(new Set(names))
  const asked = swapgate.printed.filter((line) => line.startsWith('asked '))
  expect(new Set(asked).size).toBe(asked.length)
  expect(asked).toHaveLength(32)
})
