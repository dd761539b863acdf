// Takes long: it waits as clients do.
/** Every example runs, against the gateway with its sandbox. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hasPython } from '../clients/drivers.ts'
import { created, type Reply, refusal, startStub } from '../clients/stub.ts'
import { formNames } from '../support/pair.ts'
import { type DefaultGateway, startDefaultGateway } from './standard.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0
const run = promisify(execFile)

let defaultGateway: DefaultGateway
beforeAll(async () => {
  defaultGateway = await startDefaultGateway()
})
afterAll(() => defaultGateway?.[Symbol.asyncDispose]())

interface Places {
  readonly gateway: string
  readonly sandbox: string
}

function environment({ gateway, sandbox }: Places): NodeJS.ProcessEnv {
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  return { ...process.env, PATH, SWAPGATE_URL: gateway, SANDBOX_URL: sandbox, PYTHONDONTWRITEBYTECODE: '1' }
}

async function output(program: string, file: string): Promise<string> {
  return (await run(program, [file], { env: environment(defaultGateway) })).stdout
}

/** What is printed by every run: without figures and ids, and without the statuses on the way. */
function lastingPart(lines: readonly string[]): readonly string[] {
  const lasting = lines.filter((line) => !/^status: (?!success)/.test(line))
  return lasting.map((line) => line.replaceAll(/alpha~[0-9a-f-]{36}|\bbc1q\w+|\d[\d.]*/g, '…'))
}

it.each([
  ['TypeScript', process.execPath, 'examples/typescript/swap.ts'],
  ...(hasPython ? [['Python', 'python3', 'examples/python/swap.py'] as const] : []),
] as const)('the %s one quotes, creates, pays, waits and lists', async (_, program, file) => {
  const lines = (await output(program, file)).trim().split('\n')
  const [, shown = ''] = /run --silent example\n```\n\n```text\n([\s\S]*?)\n```/.exec(readFileSync('docs/tour.md', 'utf8')) ?? []
  expect(lastingPart(lines)).toEqual(lastingPart(shown.split('\n')))
  expect(lines[0]).toMatch(/^0\.1 BTC is about [\d.]+ USDT; from [\d.]+ to [\d.]+ BTC can be swapped$/)
  expect(lines[1]).toMatch(/^created alpha~[0-9a-f-]{36}: please pay 0\.1 BTC to bc1q\w+$/)
  expect(lines[2]).toBe('asked again with the same Idempotency-Key: the same swap')
  expect(lines).toContain('status: success')
  expect(lines.at(-2)).toMatch(/^swaps with this key: \d+; this one is among them: true$/)
  expect(lines.at(-1)).toBe('an error: 400 unknown_asset: Invalid coinTo: NOBODY is not a coin that can be swapped here.')
})

describe.runIf(hasCurl).each(formNames)('the script of form %s', (form) => {
  const file = `examples/curl/form-${form.toLowerCase()}.sh`

  it('quotes, creates, pays, waits and lists', async () => {
    const lines = (await output('bash', file)).trim().split('\n')
    const documents = lines.filter((line) => line.startsWith('{')).map((line) => JSON.parse(line) as Record<string, unknown>)
    const [rate, made, again, paid, list, mistake] = documents
    expect(rate).toHaveProperty(form === 'A' ? 'amountTo' : 'toAmount')
    expect(made).toMatchObject({ status: 'wait', [form === 'A' ? 'coinFrom' : 'coin_from']: 'BTC' })
    expect(again).toEqual(made)
    expect(`alpha~${paid?.id}`).toBe(made?.id)
    expect(lines).toContain('success')
    expect(list).toMatchObject({ data: [{ id: made?.id }] })
    expect(mistake).toMatchObject({ code: 400 })
    expect(lines).toContain('x-swap-reason: unknown_asset')
  })

  /** What the script does with these replies to all that it sends after a rate: its exit code, its error, and how often it sent the create. */
  async function ending(...replies: readonly Reply[]) {
    await using stub = await startStub({ body: {} }, ...replies)
    const places = { gateway: stub.url, sandbox: stub.url }
    const { code, stderr } = await run('bash', [file], { env: environment(places) }).then(
      () => ({ code: 0, stderr: '' }),
      (error: { readonly code: number; readonly stderr: string }) => error,
    )
    const keys = stub.received.map(({ key }) => key).filter((key) => key !== undefined)
    expect(new Set(keys).size).toBe(1)
    return { code, stderr, creates: keys.length }
  }

  it('ends with the reason of a refusal', async () => {
    const { code, stderr, creates } = await ending(refusal(400, 'below_minimum'))
    expect([code, creates]).toEqual([1, 1])
    expect(stderr).toMatch(/^400 below_minimum: \{.*It is below_minimum\./)
  })

  it('asks again under the same key, and does not forget that a swap may exist', async () => {
    const { code, stderr, creates } = await ending({ breaks: true }, refusal(401, 'key_invalid'))
    expect([code, creates]).toEqual([2, 2])
    expect(stderr).toContain('401 key_invalid')
    expect(stderr).toContain('The swap may have been created: ask again with the same Idempotency-Key.')
  })

  it('ends if a person has to look', async () => {
    const { code, creates } = await ending(refusal(409, 'needs_person'))
    expect([code, creates]).toEqual([2, 1])
  })

  it('ends if it is to wait for long, and says that a swap may exist', async () => {
    const { code, stderr, creates } = await ending(refusal(504, 'outcome_unknown', { retryAfter: 600 }))
    expect([code, creates]).toEqual([2, 1])
    expect(stderr).toContain('The swap may have been created')
  })

  it('ends if it cannot pay', async () => {
    const { code, creates } = await ending(created, created, refusal(404, 'not_found'))
    expect([code, creates]).toEqual([22, 2])
  })
})
