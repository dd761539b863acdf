// Runs alone: how soon each client has its swap.
/** docs/errors.md, "Clients that retry": with the lines of the page a lost create lands, with each client. */
import { execFile, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, expect, onTestFinished, test } from 'vitest'
import { startFormA, transactionA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { apt, installed } from '../support/installation.ts'
import { orderIn } from '../support/managed.ts'
import { loseResponses } from '../support/outcomes.ts'
import { slowness } from '../support/slowness.ts'

const run = promisify(execFile)
const [, section = ''] = readFileSync('docs/errors.md', 'utf8').split('\n## Clients that retry\n')
const headerLine = /^const headers = .*$/m.exec(section)?.[0] ?? ''
const clients = [...section.matchAll(/^\*\*(\w+)\*\*.*\n\n```(js|py)\n([\s\S]*?)\n```$/gm)].map(
  ([, name = '', language = '', lines = '']) => [name, language, lines] as const,
)

const hasUrllib3 = (): true | undefined => (spawnSync('python3', ['-c', 'import urllib3']).status === 0 ? true : undefined)
beforeAll(
  () => installed('urllib3 for python3', hasUrllib3, () => apt('urllib3 for python3', tmpdir(), 'install', 'python3-urllib3')),
  300_000,
)

/** What a program has before the lines of the page, which uses up the limit of this second, and behind them. */
const around: Readonly<Record<string, readonly [before: string, behind: string]>> = {
  js: [
    `const { url, order, headers } = JSON.parse(process.argv[1])
await fetch(url, { method: 'POST', headers: { ...headers, 'Idempotency-Key': 'refused' }, body: '{}' })
const startedAt = performance.now()`,
    'console.log(JSON.stringify({ swap, seconds: (performance.now() - startedAt) / 1000 }))',
  ],
  py: [
    `import json, sys, time, urllib.error, urllib.request
url, order, headers = json.loads(sys.argv[1]).values()
try:
    urllib.request.urlopen(urllib.request.Request(url, b"{}", {**headers, "Idempotency-Key": "refused"}))
except urllib.error.HTTPError:
    started_at = time.monotonic()`,
    'print(json.dumps({"swap": swap, "seconds": time.monotonic() - started_at}))',
  ],
}

/** The swap that the client got, and after how many seconds. */
async function received(
  language: string,
  lines: string,
  given: { readonly url: string; readonly key: string; readonly order: object },
) {
  const { url, key, order } = given
  const makeHeaders = new Function('key', 'id', `${headerLine}\nreturn headers`) as (key: string, id: string) => object
  const [before, behind] = around[language] ?? []
  const program = [before, lines, behind].join('\n')
  const json = JSON.stringify({ url, order, headers: makeHeaders(key, crypto.randomUUID()) })
  const { stdout } = await (language === 'py'
    ? run('python3', ['-c', program, json])
    : run(process.execPath, ['--input-type=module', '-e', program, json]))
  return JSON.parse(stdout) as { readonly swap: object; readonly seconds: number }
}

test('the page has the clients', () => {
  expect(clients.map(([name]) => name)).toEqual(['axios', 'got', 'ky', 'undici', 'urllib3'])
})

test.each(clients)(
  '%s: after a 429, a create whose response is lost gives one swap within 12 s, though the list takes 1.5 s',
  { timeout: 60_000 },
  async (_, language, lines) => {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-retries-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const provider = await startFormA()
    onTestFinished(() => provider.close())
    await using gateway = await InProcessGateway.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: provider.url, key: 'own-key' } },
      sections: {
        limits: { quotes: 100, create: 1, read: 100, unverified: 100, window: 1 },
        creates: { requireIdempotencyKey: true },
      },
    })
    const key = await gateway.createKey('acme')
    loseResponses(provider)
    provider.reply('list', () => {
      const data = provider.holdings.swaps.map(transactionA)
      return { delay: 1_500, json: { data, pagination: { page: 1, size: 50, total: data.length } } }
    })
    const url = `${gateway.url}/a/api/v2/transactions`
    const order = JSON.parse(JSON.stringify(orderIn('A')))
    const { swap, seconds } = await received(language, lines, { url, key, order })
    expect(gateway.output).toMatch(/"status":429\b/)
    expect(swap).toMatchObject({ id: 'alpha~lost-1', status: 'wait' })
    expect(provider.received('create')).toHaveLength(1)
    expect(seconds).toBeLessThan(12 * slowness())
  },
)
