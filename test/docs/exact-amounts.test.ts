// Takes long: it starts the gateway.
/** docs/api.md shows how amounts are sent and read exactly: with curl, in TypeScript and in Python. */
import { execFile, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { hasPython } from '../clients/drivers.ts'
import { type DefaultGateway, startDefaultGateway } from '../examples/standard.ts'

const run = promisify(execFile)
const hasCurl = spawnSync('curl', ['--version']).status === 0
const [, section = ''] = readFileSync('docs/api.md', 'utf8').split(/^## Amounts$/m)

let gateway: DefaultGateway
beforeAll(async () => {
  gateway = await startDefaultGateway()
})
afterAll(() => gateway?.[Symbol.asyncDispose]())

async function output(language: string, ...[program, ...args]: readonly [string, ...string[]]): Promise<unknown> {
  const [, shown = ''] = new RegExp(`\`\`\`${language}\\n([\\s\\S]*?)\`\`\``).exec(section) ?? []
  const text = (args.pop() ?? '').replace('SHOWN', () => shown).replaceAll('http://127.0.0.1:8080', gateway.gateway)
  return JSON.parse((await run(program, [...args, text])).stdout)
}

const text = expect.stringMatching(/^\d+\.\d+$/)

it.runIf(hasCurl)('with curl', async () => {
  expect(await output('sh', 'bash', '-c', 'SHOWN')).toMatchObject({ fromAmount: '0.10', toAmount: text })
})

it('in TypeScript', async () => {
  const before = `const base = 'http://127.0.0.1:8080/a/api/v2', key = 'sandbox-key-1'
const withdrawalAddress = '0x52908400098527886E0F7030069857D2E4169EE7'`
  const after = 'console.log(JSON.stringify([amount, amountTo]))'
  const program = `${before}\nSHOWN\n${after}`
  expect(await output('ts', process.execPath, '--input-type=module-typescript', '--eval', program)).toEqual(['0.10', text])
})

it.runIf(hasPython)('in Python', async () => {
  const before = `import decimal, json, urllib.request\nurl = "http://127.0.0.1:8080/b/api/v2/rate?coinFrom=BTC&coinTo=ETH&amount=0.10"`
  expect(await output('python', 'python3', '-c', `${before}\nSHOWN\nprint(json.dumps(str(received)))`)).toEqual(text)
})
