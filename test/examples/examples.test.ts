// Takes long: it waits as clients do.
/** Every example runs, against the gateway with its sandbox. */
import { execFile, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ClientA } from '../../examples/typescript/client-a.ts'
import { SwapError } from '../../examples/typescript/swap-http.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { formNames } from '../support/pair.ts'
import { type DefaultGateway, startDefaultGateway } from './standard.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
const run = promisify(execFile)
const read = (file: string): string => readFileSync(file, 'utf8')

let defaultGateway: DefaultGateway
beforeAll(async () => {
  defaultGateway = await startDefaultGateway()
})
afterAll(() => defaultGateway?.[Symbol.asyncDispose]())

async function output(program: string, file: string): Promise<string> {
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}${delimiter}${process.env.PATH}`,
    SWAPGATE_URL: defaultGateway.gateway,
    SANDBOX_URL: defaultGateway.sandbox,
  }
  const { stdout } = await run(program, [file], { env })
  return stdout
}

/** What is printed by every run: without figures and ids, and without the statuses on the way. */
function lastingPart(lines: readonly string[]): readonly string[] {
  const lasting = lines.filter((line) => !/^status: (?!success)/.test(line))
  return lasting.map((line) => line.replaceAll(/alpha~[0-9a-f-]{36}|\bbc1q\w+|\d[\d.]*/g, '…'))
}

it('the TypeScript one quotes, creates, pays, waits and lists', async () => {
  const lines = (await output(process.execPath, 'examples/typescript/swap.ts')).trim().split('\n')
  const [, shown = ''] = /run --silent example\n```\n\n```text\n([\s\S]*?)\n```/.exec(read('docs/tour.md')) ?? []
  expect(lastingPart(lines)).toEqual(lastingPart(shown.split('\n')))
  expect(lines[0]).toMatch(/^0\.1 BTC is about [\d.]+ USDT; from [\d.]+ to [\d.]+ BTC can be swapped$/)
  expect(lines[1]).toMatch(/^created alpha~[0-9a-f-]{36}: please pay 0\.1 BTC to bc1q\w+$/)
  expect(lines[2]).toBe('asked again with the same Idempotency-Key: the same swap')
  expect(lines).toContain('status: success')
  expect(lines.at(-2)).toMatch(/^swaps with this key: \d+; this one is among them: true$/)
  expect(lines.at(-1)).toBe('an error: 400 unknown_asset: Invalid coinTo: NOBODY is not a coin that can be swapped here.')
}, 30_000)

describe.runIf(hasCurl).each(formNames)('the script of form %s', (form) => {
  it('quotes, creates, pays, waits and lists', async () => {
    const lines = (await output('bash', `examples/curl/form-${form.toLowerCase()}.sh`)).trim().split('\n')
    const documents = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
    const [rate, created, again, paid, list, mistake] = documents
    expect(rate).toHaveProperty(form === 'A' ? 'amountTo' : 'toAmount')
    expect(created).toMatchObject({ status: 'wait', [form === 'A' ? 'coinFrom' : 'coin_from']: 'BTC' })
    expect(again).toEqual(created)
    expect(`alpha~${paid?.id}`).toBe(created?.id)
    expect(lines).toContain('success')
    expect(list).toMatchObject({ data: [{ id: created?.id }] })
    expect(mistake).toMatchObject({ code: 400 })
    expect(lines).toContain('x-swap-reason: unknown_asset')
  }, 30_000)
})

describe('the client', () => {
  const client = (key = 'sandbox-key-1'): ClientA => new ClientA({ baseUrl: `${defaultGateway.gateway}/a`, key })
  const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: '0.2', withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }

  it('waits for Retry-After, and then has its response', async () => {
    const alone = new ClientA({ baseUrl: `${defaultGateway.gateway}/a`, key: 'sandbox-key-1', tries: 1 })
    const refusalsOf25 = async (): Promise<readonly SwapError[]> => {
      const requests = await Promise.allSettled(Array.from({ length: 25 }, () => alone.currencies({ size: 1 })))
      const refused = requests.flatMap((result) => (result.status === 'rejected' ? [result.reason as SwapError] : []))
      expect(refused.length).toBeGreaterThanOrEqual(5)
      return refused
    }
    const refusals = await vi.waitFor(refusalsOf25, eventTimeoutMs) // a window of the limit may end among the 25
    for (const { status, retryAfter, requestId } of refusals) {
      expect(status).toBe(429)
      expect(retryAfter).toBeGreaterThanOrEqual(1)
      expect(requestId).not.toBeNull()
    }
    const { pagination } = await client().currencies({ search: 'tether' })
    expect(pagination.total).toBeGreaterThanOrEqual(3)
  })

  it('has one swap if the provider breaks the connection after the create', async () => {
    const fault = (method: string, body?: object): Promise<Response> =>
      fetch(`${defaultGateway.sandbox}/sandbox/faults`, {
        method,
        headers: { 'content-type': 'application/json' },
        ...(body && { body: JSON.stringify(body) }),
      })
    await fault('POST', { operation: 'createTransaction', reset: 'after' })
    const created = await client('sandbox-key-2').create(order, 'order-1')
    await fault('DELETE')
    expect(created).toMatchObject({ status: 'wait', coinTo: 'USDTTRC20', amount: '0.2' })
    const { data, pagination } = await client('sandbox-key-2').swaps()
    expect([pagination.total, data[0]?.id]).toEqual([1, created.id])
  }, 40_000)

  it('gives up at once if a retry would not help', async () => {
    const refused = await client('unknown')
      .swaps()
      .catch((error: unknown) => error)
    expect(refused).toBeInstanceOf(SwapError)
    expect((refused as SwapError).status).toBe(401)
  })
})

it.each(formNames)('the types of form %s are those of its description (npm run docs:openapi)', (form) => {
  const name = form.toLowerCase()
  const [, digest, types = ''] =
    /SHA-256 of both: (\w+) \*\/\n\n([\s\S]*)/.exec(read(`examples/typescript/form-${name}.d.ts`)) ?? []
  const made = createHash('sha256')
    .update(read(`docs/openapi/${name}.json`))
    .update(types)
  expect(digest).toBe(made.digest('hex'))
})
