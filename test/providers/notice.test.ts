/** docs/contract.md §16: a start and `check` warn of a provider in which a lost create cannot be found again. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { configured, documented, providerNames } from './documented.ts'

const notice = /providers\.(\w+): the form \w+ has no list of transactions/g
let gateway: InProcessGateway
let directory: string

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'swapgate-notice-'))
  const facts = providerNames.map((name) => {
    return [name, { form: name, url: 'http://127.0.0.1:1/api', ...configured(documented[name]) }] as const
  })
  gateway = await InProcessGateway.start({ directory, mode: 'managed', providers: Object.fromEntries(facts) })
})
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  rmSync(directory, { recursive: true })
})

const expected = providerNames.filter((name) => !documented[name].hasList)

it('P2: at start', () => {
  expect([...gateway.output.matchAll(notice)].map(([, name]) => name)).toEqual(expected)
})

it('P2: by check', async () => {
  const { warnings } = (await gateway.command('check')) as { readonly warnings: readonly string[] }
  expect([...warnings.join('\n').matchAll(notice)].map(([, name]) => name)).toEqual(expected)
})
