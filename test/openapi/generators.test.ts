// Takes long: it installs the generators, unless they are there.
/** Clients that generators make of `docs/openapi/`, with their default options, take the requests of README.md: they compile, and run. */
import { execFile, execFileSync, spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DefaultGateway, startDefaultGateway } from '../examples/standard.ts'
import { apt, installed } from '../support/installation.ts'

const tools = resolve('tools/generators')
const run = promisify(execFile)
/** A Python with `dateutil`, with which the classes of quicktype read times: that of PATH, or that of the system. */
const pythonWithDateutil = (): string | undefined =>
  ['python3', '/usr/bin/python3'].find((python) => spawnSync(python, ['-c', 'import dateutil.parser']).status === 0)

let place: string
let gateway: DefaultGateway

const forms = ['a', 'b'] as const
type Form = (typeof forms)[number]
const description = (form: Form): string => resolve(`docs/openapi/${form}.json`)

/** What README.md sends: literals of TypeScript and JSON, with their digits. */
const readme = readFileSync('README.md', 'utf8')
const [, order = ''] = /-d '(\{[^']*\})'/.exec(readme) ?? []
function queryOf(form: Form): string {
  const [, query = ''] = new RegExp(`/${form}/api/v2/rate\\?([^']*)'`).exec(readme) ?? []
  const members = [...new URLSearchParams(query)].map(([name, value]) => `${name}: ${name === 'amount' ? value : `'${value}'`}`)
  return `{ ${members.join(', ')} }`
}

/** Sends its requests, and prints the two rates and the id of the swap. */
const programs = {
  'openapi-typescript': `import type { components, operations } from './openapi-typescript-a.ts'
import type { operations as OperationsB } from './openapi-typescript-b.ts'
const query: operations['getRate']['parameters']['query'] = ${queryOf('a')}
const queryB: OperationsB['getRate']['parameters']['query'] = ${queryOf('b')}
const order: components['schemas']['NewTransaction'] = ${order}
async function send<Body>(path: string, query: object, init?: RequestInit): Promise<Body> {
  const texts = Object.entries(query).map(([name, value]) => [name, String(value)])
  const response = await fetch(process.env.URL + path + '?' + new URLSearchParams(texts), init)
  return await response.json()
}
const rate = await send<components['schemas']['Rate']>('/a/api/v2/rate', query)
const rateB = await send<OperationsB['getRate']['responses'][200]['content']['application/json']>('/b/api/v2/rate', queryB)
const headers = { authorization: 'Bearer ' + process.env.KEY, 'content-type': 'application/json' }
const init = { method: 'POST', headers, body: JSON.stringify(order) }
const { id } = await send<components['schemas']['CreatedTransaction']>('/a/api/v2/transactions', {}, init)
console.log(JSON.stringify([rate.amountTo, rateB.toAmount, id]))
`,
  'hey-api': `import { client } from './hey-api-a/client.gen.js'
import { createTransaction, getRate } from './hey-api-a/index.js'
import { client as clientB } from './hey-api-b/client.gen.js'
import { getRate as getRateB } from './hey-api-b/index.js'
client.setConfig({ baseUrl: process.env.URL + '/a/api/v2', auth: () => process.env.KEY })
clientB.setConfig({ baseUrl: process.env.URL + '/b/api/v2' })
const { data: rate } = await getRate({ query: ${queryOf('a')} })
const { data: rateB } = await getRateB({ query: ${queryOf('b')} })
const { data: swap } = await createTransaction({ body: ${order} })
console.log(JSON.stringify([rate?.amountTo, rateB?.toAmount, swap?.id]))
`,
  orval: `import { createTransaction, getRate } from './orval-a/api.js'
import { getRate as getRateB } from './orval-b/api.js'
const at = (form: string) => ({ baseURL: process.env.URL + '/' + form + '/api/v2', headers: { authorization: 'Bearer ' + process.env.KEY } })
const { data: rate } = await getRate(${queryOf('a')}, at('a'))
const { data: rateB } = await getRateB(${queryOf('b')}, at('b'))
const { data: swap } = await createTransaction(${order}, at('a'))
console.log(JSON.stringify([rate.amountTo, rateB.toAmount, swap.id]))
`,
} as const

const commands: Readonly<Record<keyof typeof programs, (form: Form) => readonly string[]>> = {
  'openapi-typescript': (form) => ['openapi-typescript', description(form), '-o', `openapi-typescript-${form}.ts`],
  'hey-api': (form) => ['openapi-ts', '-i', description(form), '-o', `hey-api-${form}`],
  orval: (form) => ['orval', '--input', description(form), '--output', `orval-${form}/api.ts`],
}

/** The types of the client to copy are those of the description, with texts for amounts. */
const sameTypes = `import type { components } from './openapi-typescript-a.ts'
import type { AddressCheck, AddressToCheck, CreatedSwap, Currency, ListedSwap, Order, Page, Pair, Rate, Rates, Swap } from './swapgate.ts'
type Amounts = 'amount' | 'amountTo' | 'depositMin' | 'depositMax' | 'rate' | 'fee' | 'minAmount' | 'maxAmount' | 'refundAmount'
type Exact<T> = T extends readonly (infer Item)[] ? readonly Exact<Item>[] : T extends object ? { [Name in keyof T]: Name extends Amounts ? string : Exact<T[Name]> } : T
type Same<A, B> = [A, keyof A, B, keyof B] extends [B, keyof B, A, keyof A] ? true : false
type Schemas = { [Name in keyof components['schemas']]: Exact<components['schemas'][Name]> }
export const same: readonly [
  Same<Schemas['Currency'], Currency>,
  Same<Schemas['Rate'], Rate>,
  Same<keyof Schemas['NewTransaction'], keyof Order>,
  [Order] extends [Schemas['NewTransaction']] ? true : false,
  Same<Schemas['CreatedTransaction'], CreatedSwap>,
  Same<Schemas['ListedTransaction'], ListedSwap>,
  Same<Schemas['Transaction'], Swap>,
  Same<Schemas['Pair'], Pair>,
  Same<Schemas['AddressToCheck'], AddressToCheck>,
  Same<Schemas['AddressCheck'], AddressCheck>,
  Same<Schemas['Rates'], Rates>,
  Same<keyof Schemas['CurrencyPage'], keyof Page<Currency>>,
] = [true, true, true, true, true, true, true, true, true, true, true, true]
`

async function generate(command: readonly string[]): Promise<void> {
  const [name = '', ...args] = command
  await run(join(tools, 'node_modules/.bin', name), args, { cwd: place })
}

/** By the lock file: npm notes in its own what it has installed. */
function areInstalled(): boolean {
  const installed = join(tools, 'node_modules/.package-lock.json')
  return existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(tools, 'package-lock.json')).mtimeMs
}

beforeAll(async () => {
  if (!areInstalled()) execFileSync('npm', ['ci', '--silent', '--no-update-notifier'], { cwd: tools })
  place = mkdtempSync(join(tmpdir(), 'swapgate-generators-'))
  symlinkSync(join(tools, 'node_modules'), join(place, 'node_modules'))
  writeFileSync(join(place, 'package.json'), '{ "type": "module" }')
  gateway = await startDefaultGateway()
}, 300_000)
afterAll(async () => {
  await gateway?.[Symbol.asyncDispose]()
  if (place) rmSync(place, { recursive: true })
})

function compile(folder: string): void {
  const options = ['--strict', '--module', 'nodenext', '--target', 'esnext', '--lib', 'esnext,dom,dom.iterable', '--skipLibCheck']
  const types = ['--types', 'node', '--typeRoots', resolve('node_modules/@types'), '--rewriteRelativeImportExtensions']
  execFileSync(resolve('node_modules/.bin/tsc'), [...options, ...types, '--outDir', folder, `${folder}.ts`], {
    cwd: place,
    stdio: 'pipe',
  })
}

const answers = [expect.any(Number), expect.any(Number), expect.stringMatching(/^alpha~/)]
const environment = () => ({ ...process.env, URL: gateway.gateway, KEY: 'sandbox-key-1' })

describe.each(Object.keys(programs) as readonly (keyof typeof programs)[])('%s', (name) => {
  it('makes a client that sends the requests of README.md', async () => {
    for (const form of forms) await generate(commands[name](form))
    writeFileSync(join(place, `${name}.ts`), programs[name])
    compile(name)
    const { stdout } = await run(process.execPath, [join(name, `${name}.js`)], { cwd: place, env: environment() })
    expect(JSON.parse(stdout)).toEqual(answers)
  }, 120_000)
})

it('the types of clients/typescript are those of the description', async () => {
  await generate(commands['openapi-typescript']('a'))
  copyFileSync('clients/typescript/swapgate.ts', join(place, 'swapgate.ts'))
  writeFileSync(join(place, 'same-types.ts'), sameTypes)
  expect(() => compile('same-types')).not.toThrow()
}, 120_000)

it('the types of clients/python hold, in its own program and in those that use it', async () => {
  const folder = join(place, 'typed')
  mkdirSync(folder)
  copyFileSync('clients/python/swapgate.py', join(folder, 'swapgate.py'))
  copyFileSync('examples/python/swap.py', join(folder, 'example.py'))
  const [, program = ''] = /```python\n([\s\S]*?)```/.exec(readFileSync('clients/python/README.md', 'utf8')) ?? []
  writeFileSync(join(folder, 'readme.py'), program)
  const found = spawnSync(join(tools, 'node_modules/.bin/pyright'), ['--pythonversion', '3.9', folder], {
    cwd: place,
    encoding: 'utf8',
  })
  expect(found.stdout).toContain('0 errors, 0 warnings')
}, 120_000)

describe('quicktype', () => {
  const quicktype = ['quicktype', '--lang', 'python', '--src-lang', 'schema']
  const program = `import json, os, sys, urllib.request
import a, b

def send(path, query="", body=None):
    headers = {"Authorization": "Bearer " + os.environ["KEY"], "Content-Type": "application/json"}
    request = urllib.request.Request(os.environ["URL"] + path + query, body and json.dumps(body).encode(), headers)
    # A later version may have more members.
    return {**json.load(urllib.request.urlopen(request)), "later": {"more": 1}}

order = json.loads(sys.argv[1])
assert a.new_transaction_to_dict(a.new_transaction_from_dict(order)) == order
exact = a.NewTransaction(**{"".join("_" + c.lower() if c.isupper() else c for c in name): value for name, value in order.items()})
exact.amount = "0.100000000000000000001"
assert exact.to_dict()["amount"] == exact.amount
error = {"error": "Bad Request", "message": "No.", "code": 400, "errors": [{"field": "amount", "reason": "brand_new", "message": "No."}]}
assert a.error_from_dict(error).errors[0].reason == "brand_new"
rate = a.rate_from_dict(send("/a/api/v2/rate?", sys.argv[2]))
rate_b = b.rate_from_dict(send("/b/api/v2/rate?", sys.argv[3]))
swap = a.created_transaction_from_dict(send("/a/api/v2/transactions", body=order))
print(json.dumps([rate.amount_to, rate_b.to_amount, swap.id]))
`

  it('makes classes of Python that write the requests of README.md, and read the responses', async () => {
    const python = await installed('dateutil of python3', pythonWithDateutil, () =>
      apt('dateutil', place, 'install', 'python3-dateutil'),
    )
    const folder = join(place, 'python')
    mkdirSync(folder)
    for (const form of forms)
      await generate([...quicktype, '-o', join(folder, `${form}.py`), `${description(form)}#/components/schemas/`])
    writeFileSync(join(folder, 'main.py'), program)
    const queries = forms.map((form) => new RegExp(`/${form}/api/v2/rate\\?([^']*)'`).exec(readme)?.[1] ?? '')
    const { stdout } = await run(python, ['-B', join(folder, 'main.py'), order, ...queries], { env: environment() })
    expect(JSON.parse(stdout)).toEqual(answers)
  }, 120_000)
})
