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
const order = { ...pair, amount: '0.100', withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }

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
    const { value } = await call({ name: 'create', order: { ...order, amount: '0.2' } }, 'sandbox-key-2')
    await fetch(`${gateway.sandbox}/sandbox/faults`, { method: 'DELETE' })
    expect(value).toMatchObject({ swap: { status: 'wait', amount: '0.2' } })
    const { value: all } = await call({ name: 'all' }, 'sandbox-key-2')
    const ids = (all as readonly { readonly id: string; readonly amount: string }[]).filter(({ amount }) => amount === '0.2')
    expect(ids).toHaveLength(language === 'TypeScript' ? 1 : 2)
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

  it('says why it is refused', async () => {
    const unknown = await call({ name: 'rate', query: { ...pair, coinTo: 'NOBODY', amount: '1' } })
    expect(unknown.error).toMatchObject({ name: 'AssetRefused', reason: 'unknown_asset', status: 400 })
    expect((await call({ name: 'list', page: 1, size: 1 }, 'unknown')).error).toMatchObject({
      name: 'KeyRefused',
      reason: 'key_invalid',
    })
    expect((await call({ name: 'get', id: 'alpha~none' })).error).toMatchObject({ name: 'NotFound', reason: 'not_found' })
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
