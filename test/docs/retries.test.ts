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

/** Each of them by one client with the lines of the page, all at once, after what used up the limit of this second. Its `made` is printed. */
const programs: Readonly<Record<string, (settings: string, request: string) => string>> = {
  js: (settings, request) => `${settings}
const { url, orders } = JSON.parse(process.argv[1])
await Promise.all(orders.map(({ headers }) => fetch(url, { method: 'POST', headers: { ...headers, 'Idempotency-Key': 'refused' }, body: '{}' })))
const made = await Promise.all(orders.map(async ({ order, headers }) => {
  const startedAt = performance.now()
  ${request}
  return { swap, seconds: (performance.now() - startedAt) / 1000 }
}))
console.log(JSON.stringify(made))`,
  py: (settings, request) => `import concurrent.futures, json, sys, time, urllib.error, urllib.request
${settings}
url, orders = json.loads(sys.argv[1]).values()
def refused(given):
    try:
        urllib.request.urlopen(urllib.request.Request(url, b"{}", {**given["headers"], "Idempotency-Key": "refused"}))
    except urllib.error.HTTPError as refusal:
        refusal.close()
def create(given):
    order, headers = given.values()
    started_at = time.monotonic()
    ${request.replaceAll('\n', '\n    ')}
    return {"swap": swap, "seconds": time.monotonic() - started_at}
with concurrent.futures.ThreadPoolExecutor(len(orders)) as pool:
    list(pool.map(refused, orders))
    made = list(pool.map(create, orders))
print(json.dumps(made))`,
}

interface Order {
  readonly withdrawalAddress: string
}

/** The swaps that the client got, in the order of `orders`, and after how many seconds. */
async function received(language: string, lines: string, given: { url: string; key: string; orders: readonly Order[] }) {
  const { url, key, orders } = given
  const makeHeaders = new Function('key', 'id', `${headerLine}\nreturn headers`) as (key: string, id: string) => object
  const all = lines.split('\n')
  const at = all.findIndex((line) => /await |\.request\(/.test(line))
  const program = programs[language]?.(all.slice(0, at).join('\n'), all.slice(at).join('\n')) ?? ''
  const json = JSON.stringify({ url, orders: orders.map((order) => ({ order, headers: makeHeaders(key, crypto.randomUUID()) })) })
  const { stdout } = await (language === 'py'
    ? run('python3', ['-c', program, json])
    : run(process.execPath, ['--input-type=module', '-e', program, json]))
  return JSON.parse(stdout) as readonly { readonly swap: object; readonly seconds: number }[]
}

test('the page has the clients', () => {
  expect(clients.map(([name]) => name)).toEqual(['axios', 'got', 'ky', 'undici', 'urllib3'])
})

const lists = ['at once', 'after 1.5 s'] as const
test.each(clients.flatMap(([name, ...others]) => lists.map((list) => [name, list, ...others] as const)))(
  '%s: after a 429, each of twenty creates whose response is lost gives its swap within 12 s, where the list comes %s',
  { timeout: 60_000 },
  async (name, list, language, lines) => {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-retries-'))
    onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
    const provider = await startFormA()
    onTestFinished(() => provider.close())
    // Each of them is lost: else the breaker refuses the ones after the fifth, for half a minute.
    const breaker = { consecutiveFailures: 100 }
    await using gateway = await InProcessGateway.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: provider.url, key: 'own-key', breaker } },
      sections: {
        limits: { quotes: 100, create: 20, read: 100, unverified: 100, window: 1 },
        creates: { requireIdempotencyKey: true },
      },
    })
    const key = await gateway.createKey('acme')
    loseResponses(provider)
    provider.reply('list', () => {
      const data = provider.holdings.swaps.map(transactionA)
      return { delay: list === 'at once' ? 0 : 1_500, json: { data, pagination: { page: 1, size: 50, total: data.length } } }
    })
    const url = `${gateway.url}/a/api/v2/transactions`
    const orders = Array.from({ length: 20 }, (_, n) => ({ ...orderIn('A'), withdrawalAddress: `TWithdraw${n}` }))
    const made = await received(language, lines, { url, key, orders: JSON.parse(JSON.stringify(orders)) })
    expect(gateway.output).toMatch(/"status":429\b/)
    expect(made.map(({ swap }) => swap)).toMatchObject(
      orders.map(({ withdrawalAddress }) => ({ withdrawalAddress, status: 'wait' })),
    )
    expect(provider.received('create')).toHaveLength(20)
    const slowest = Math.max(...made.map(({ seconds }) => seconds))
    console.info(`${name}: the slowest after ${slowest.toFixed(1)} s`)
    expect(slowest).toBeLessThan(12 * slowness())
  },
)
