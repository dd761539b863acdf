// Takes long: it waits as clients do.
/** The clients to copy, at a gateway with its sandbox. */
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { visit } from '../api-docs-page/browser.ts'
import { type DefaultGateway, startDefaultGateway } from '../examples/standard.ts'
import { olderNode } from '../support/older-node.ts'
import { type Call, drivers, hasPython, type Result } from './drivers.ts'

const pair = { coinFrom: 'BTC', coinTo: 'USDTTRC20' }
const ripple = 'rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe'
const nano = 'nano_3t6k35gi95xu6tergt6p69ck76ogmitsa8mnijtpxm9fkcm736xtoncuohr3'
const order = { ...pair, amount: '0.100', withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }

const creating = (more: object): Call => ({ name: 'create', order: { ...order, ...more } })
const quoting = (more: object): Call => ({ name: 'rate', query: { ...pair, amount: '0.1', ...more } })

let gateway: DefaultGateway
beforeAll(async () => {
  gateway = await startDefaultGateway()
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

const post = (path: string, body: object): Promise<Response> =>
  fetch(`${gateway.sandbox}/sandbox/${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

const languages = hasPython ? (['TypeScript', 'Python'] as const) : (['TypeScript'] as const)

describe.each(languages)('the %s client', (language) => {
  const driver = drivers[language]()
  afterAll(() => driver[Symbol.asyncDispose]())
  const call = (what: Call, key = 'sandbox-key-1'): Promise<Result> => driver.call({ url: gateway.gateway, key }, what)

  it('quotes, creates, waits and lists, with amounts as they were sent', async () => {
    const { value: rate } = await call({ name: 'rate', query: { ...pair, amount: '0.1000000000000000001' } })
    expect(rate).toMatchObject({ amount: '0.1000000000000000001', amountTo: expect.stringMatching(/^\d+\.\d+$/) })
    const made = (await call({ name: 'create', order })).value as { idempotencyKey: string; swap: Record<string, string> }
    const { id = '', depositAddress } = made.swap
    expect(made.swap).toMatchObject({ status: 'wait', amount: '0.100' })
    const again = await call({ name: 'create', order, idempotencyKey: made.idempotencyKey })
    expect(again.value).toEqual({ ...made, isRepeated: true })
    await post('deposits', { depositAddress })
    expect((await call({ name: 'waitFor', id })).value).toMatchObject({ swap: { id, status: 'success', amount: '0.100' } })
    const { value: page } = await call({ name: 'list', page: 1, size: 1 })
    expect(page).toMatchObject({ data: [{ id, amount: '0.100' }], pagination: { page: 1, size: 1 } })
    expect((await call({ name: 'all', status: 'success' })).value).toContainEqual(expect.objectContaining({ id }))
    expect((await call({ name: 'all', status: 'refunded' })).value).toEqual([])
    const coins = (await call({ name: 'allCurrencies', search: 'tether' })).value as readonly { readonly code: string }[]
    expect(coins.map(({ code }) => code)).toContain('USDTTRC20')
  }, 60_000)

  it('has one swap if the provider breaks the connection after the create', async () => {
    await post('faults', { operation: 'createTransaction', reset: 'after' })
    const mine = async (): Promise<number> => ((await call({ name: 'all' }, 'sandbox-key-2')).value as readonly object[]).length
    const before = await mine()
    const { value } = await call(creating({ amount: '0.2' }), 'sandbox-key-2')
    await fetch(`${gateway.sandbox}/sandbox/faults`, { method: 'DELETE' })
    expect(value).toMatchObject({ swap: { status: 'wait', amount: '0.2' } })
    expect(await mine()).toBe(before + 1)
  }, 60_000)

  it('asks about a pair and an address', async () => {
    const { value: known } = await call({ name: 'pair', from: pair.coinFrom, to: pair.coinTo })
    expect(known).toMatchObject({
      from: { coin: 'BTC', network: 'BTC', decimals: 8 },
      to: { coin: 'USDTTRC20' },
      rateTypes: expect.arrayContaining([expect.objectContaining({ minAmount: expect.stringMatching(/^[\d.]+$/) })]),
    })
    const right = await call({ name: 'checkAddress', question: { coin: 'USDTTRC20', address: order.withdrawalAddress } })
    expect(right.value).toEqual({ valid: true, errors: [] })
    const wrong = await call({ name: 'checkAddress', question: { coin: 'USDTTRC20', address: 'nowhere' } })
    expect(wrong.value).toMatchObject({ valid: false, errors: [{ field: 'address', reason: 'address_invalid' }] })
  })

  /** docs/sandbox.md: what gets each reason that a client of Form A can cause. */
  const causes: readonly { readonly name: string; readonly reason: string; readonly what: Call; readonly key?: string }[] = [
    { name: 'BadRequest', reason: 'parameter_invalid', what: { name: 'list', page: 1, size: 101 } },
    { name: 'BadRequest', reason: 'parameter_unknown', what: creating({ color: 'red' }) },
    { name: 'AssetRefused', reason: 'unknown_asset', what: quoting({ coinTo: 'NOBODY' }) },
    { name: 'AssetRefused', reason: 'not_offered', what: creating({ coinTo: 'XNO', withdrawalAddress: nano }) },
    { name: 'AddressRefused', reason: 'address_invalid', what: creating({ withdrawalAddress: 'nowhere' }) },
    {
      ...{ name: 'AddressRefused', reason: 'memo_invalid' },
      what: creating({ coinTo: 'XRP', withdrawalAddress: ripple, withdrawalExtraId: 'of Alice' }),
    },
    { name: 'AmountRefused', reason: 'below_minimum', what: creating({ amount: '0.00001' }) },
    { name: 'AmountRefused', reason: 'above_maximum', what: creating({ amount: '10' }) },
    { name: 'ProviderRefused', reason: 'refused', what: quoting({ amount: '0.10735701' }) },
    { name: 'KeyRefused', reason: 'key_missing', what: { name: 'list', page: 1, size: 1 }, key: '' },
    { name: 'KeyRefused', reason: 'key_invalid', what: { name: 'list', page: 1, size: 1 }, key: 'unknown' },
    { name: 'NotFound', reason: 'not_found', what: { name: 'get', id: 'alpha~nothing' } },
    { name: 'Unavailable', reason: 'provider_failed', what: quoting({ amount: '0.10735702' }) },
    { name: 'Mismatch', reason: 'mismatch', what: creating({ amount: '0.10735707' }) },
    { name: 'OutcomeUnknown', reason: 'outcome_unknown', what: creating({ amount: '0.10735705' }) },
  ]
  it.each(causes)('has $name for $reason', async ({ name, reason, what, key = 'sandbox-key-1' }) => {
    const connection = { url: gateway.gateway, patienceSeconds: 0, ...(key !== '' && { key }) }
    const { error } = await driver.call(connection, what)
    expect(error).toMatchObject({ name, reason })
    expect(error?.requestId).toBeDefined()
    if (name === 'AmountRefused') expect([error?.minAmount, error?.maxAmount].map(Number)).toEqual([0.0002, expect.any(Number)])
  })

  it('has KeyReused for the key of another order', async () => {
    const idempotencyKey = `reused-${language}`
    await call({ name: 'create', order, idempotencyKey })
    const { error } = await call({ name: 'create', order: { ...order, amount: '0.2' }, idempotencyKey })
    expect(error).toMatchObject({ name: 'KeyReused', reason: 'key_reused' })
  })

  it('asks again after an unknown outcome, and gets the swap that there is', async () => {
    const lost = { ...order, amount: '0.10735704' }
    const { error } = await driver.call(
      { url: gateway.gateway, key: 'sandbox-key-1', patienceSeconds: 0 },
      { name: 'create', order: lost },
    )
    expect(error).toMatchObject({ name: 'OutcomeUnknown', reason: 'outcome_unknown', retryAfter: expect.any(Number) })
    const { value } = await call({ name: 'create', order: lost, ...error?.repeat })
    expect(value).toMatchObject({ swap: { amount: '0.10735704', status: 'wait' }, isRepeated: true })
  }, 60_000)

  it('waits while an earlier request with its key runs', async () => {
    const slow: Call = { name: 'create', order: { ...order, amount: '0.10735706' }, idempotencyKey: `slow-${language}` }
    const other = drivers[language]()
    const [first, second] = await Promise.all([call(slow), other.call({ url: gateway.gateway, key: 'sandbox-key-1' }, slow)])
    await other[Symbol.asyncDispose]()
    const idOf = ({ value }: Result): unknown => (value as { readonly swap: { readonly id: string } }).swap.id
    expect(idOf(second)).toBe(idOf(first))
  }, 60_000)

  it('says what is wrong with a parameter', async () => {
    const { error } = await call({ name: 'create', order: { ...order, withdrawalAddress: 'nowhere' } })
    expect(error).toMatchObject({ name: 'AddressRefused', errors: [{ field: 'withdrawalAddress', reason: 'address_invalid' }] })
  })
})

it.each([
  { folder: 'typescript', file: 'swapgate.ts', program: process.execPath, language: 'ts', main: 'main.ts' },
  ...(hasPython ? [{ folder: 'python', file: 'swapgate.py', program: 'python3', language: 'python', main: 'main.py' }] : []),
])(
  'the program of clients/$folder/README.md makes a swap',
  async ({ folder, file, program, language, main }) => {
    const copy = mkdtempSync(join(tmpdir(), 'swapgate-client-'))
    copyFileSync(join('clients', folder, file), join(copy, file))
    const [, shown = ''] = readFileSync(`clients/${folder}/README.md`, 'utf8').split(`\`\`\`${language}\n`)
    const [text = ''] = shown.split('```')
    writeFileSync(join(copy, 'package.json'), '{ "type": "module" }')
    writeFileSync(join(copy, main), text.replace('http://127.0.0.1:8080', gateway.gateway))
    const child = spawn(program, [main], {
      cwd: copy,
      stdio: ['ignore', 'pipe', 'inherit'],
      env: { ...process.env, PYTHONUNBUFFERED: '1' },
    })
    const lines: string[] = []
    for await (const line of createInterface({ input: child.stdout })) {
      lines.push(line.trim())
      const [, depositAddress] = /^about [\d.]+: pay 0\.10 to (\w+)/.exec(line) ?? []
      if (depositAddress !== undefined) await post('deposits', { depositAddress })
    }
    rmSync(copy, { recursive: true })
    expect(lines).toEqual([expect.stringMatching(/^about/), 'success'])
  },
  60_000,
)

it('the TypeScript client runs in a browser', async () => {
  await using visited = await visit(`${gateway.gateway}/docs`)
  const source = stripTypeScriptTypes(readFileSync('clients/typescript/swapgate.ts', 'utf8')).replaceAll(/^export /gm, '')
  const program = `const client = new SwapClient({ url: location.origin, key: 'sandbox-key-1' })
    const { swap } = await client.create(${JSON.stringify(order)})
    const refusal = await client.get('alpha~none').catch(({ name, reason }) => [name, reason])
    return [(await client.get(swap.id)).swap.amount, ...refusal]`
  expect(await visited.page.evaluate(`(async () => { ${source}; ${program} })()`)).toEqual(['0.100', 'NotFound', 'not_found'])
})

it(`the TypeScript client is compiled for ${olderNode ? 'the Node of this machine' : 'this Node'}`, () => {
  const folder = mkdtempSync(join(tmpdir(), 'swapgate-client-'))
  execFileSync('node_modules/.bin/tsc', ['-p', 'clients/typescript', '--outDir', folder])
  const program = `import { SwapClient } from './swapgate.js'
const client = new SwapClient({ url: '${gateway.gateway}', key: 'sandbox-key-1' })
const { swap } = await client.create(${JSON.stringify(order)})
console.log((await client.get(swap.id)).swap.amount)`
  writeFileSync(join(folder, 'program.mjs'), program)
  const { stdout, stderr } = spawnSync(olderNode ?? process.execPath, [join(folder, 'program.mjs')], { encoding: 'utf8' })
  rmSync(folder, { recursive: true })
  expect([stdout, stderr]).toEqual(['0.100\n', ''])
})
