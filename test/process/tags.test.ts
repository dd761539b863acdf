/** docs/contract-operators.md §10.5: an id names its provider by a tag, so no configuration gives the tag to another service. */
import { readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { sendRequest } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { startPostgres } from '../support/postgres.ts'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

let directory: ConfigDirectory
let one: ProviderA
let two: ProviderA

beforeEach(async () => {
  directory = new ConfigDirectory()
  one = await startFormA()
  two = await startFormA()
})
afterEach(async () => {
  await Promise.all([one.close(), two.close()])
  directory[Symbol.dispose]()
})

const ledgerUrl = (): string => `sqlite:${join(directory.path, 'ledger.db')}`

function settings(alpha: string, beta: string, ledger = ledgerUrl()): string {
  return `
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
ledger: { url: "${ledger}" }
providers:
  alpha: ${alpha}
  beta: ${beta}
routing: { providers: [alpha] }
`
}

const at = ({ url }: ProviderA, form = 'A'): string => `{ form: ${form}, url: "${url}" }`
const key = { authorization: 'Bearer canary-client-key-1', 'content-type': 'application/json' }
const order = { coinFrom: 'ETH', coinTo: 'BTC', amount: 0.1, withdrawalAddress: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq' }

/** A gateway on these settings, in which alpha has made a swap. */
async function used(text: string): Promise<{ gateway: InProcessGateway; file: string; id: string }> {
  const file = directory.write(text)
  const gateway = await InProcessGateway.start(file)
  const response = await sendRequest(gateway.url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: key,
    body: JSON.stringify(order),
  })
  expect(response.status, response.text).toBe(201)
  return { gateway, file, id: (response.json as { id: string }).id }
}

const untilLogged = (gateway: InProcessGateway, text: string): Promise<void> =>
  vi.waitFor(() => expect(gateway.output).toContain(text), { timeout: eventTimeoutMs, interval: 20 })

it('L52: a reload that swaps two tags is refused, and the old configuration stays', async () => {
  const { gateway, file, id } = await used(settings(at(one), at(two)))
  writeFileSync(file, settings(at(two), at(one)))
  gateway.reload()
  await untilLogged(gateway, 'providers.alpha.url: the ledger has transactions of the tag alpha')
  expect(gateway.output).toContain('reload rejected: still running the previous configuration')
  expect((await sendRequest(gateway.url, { path: `/a/api/v2/transactions/${encodeURIComponent(id)}`, headers: key })).status).toBe(
    200,
  )
  expect([one.received('get').length, two.journal.length]).toEqual([1, 0])
  writeFileSync(file, settings(at(one), at(two), ledgerUrl()).replace('shutdownDelay: 0', 'shutdownDelay: 1'))
  gateway.reload()
  await untilLogged(gateway, 'was read again')
  await gateway[Symbol.asyncDispose]()
})

it('L52: a start with swapped tags or another form ends with 1 and the path, and so does check', async () => {
  const { gateway, file } = await used(settings(at(one), at(two)))
  await gateway.stop()
  const files = readdirSync(directory.path)
  for (const [text, path] of [
    [settings(at(two), at(one)), 'providers.alpha.url'],
    [settings(at(one, 'B'), at(two)), 'providers.alpha.form'],
  ] as const) {
    writeFileSync(file, text)
    const started = await new Swapgate(['start', '--config', file]).ended
    const checked = await runCommand(['check', '--config', file])
    for (const [exitCode, err] of [[started.exitCode, started.err] as const, [checked.exitCode, checked.err.join('\n')] as const]) {
      expect([exitCode, err]).toEqual([1, expect.stringContaining(`\n  ${path}: the ledger has transactions of the tag alpha`)])
    }
    expect(JSON.parse((await runCommand(['check', '--json', '--config', file])).out.join())).toMatchObject({
      ok: false,
      faults: [{ path }],
    })
  }
  writeFileSync(file, settings(at(one), at(two)))
  expect((await runCommand(['check', '--config', file])).exitCode).toBe(0)
  expect(readdirSync(directory.path)).toEqual(files)
}, 60_000)

it('L52: another URL is reported by check, at start and at reload', async () => {
  const { gateway, file } = await used(settings(at(one), at(two)))
  const three = await startFormA()
  const warning = (before: ProviderA, after: ProviderA) =>
    `warning: providers.alpha.url: transactions of the tag alpha were at ${before.url}, and are read at ${after.url} from now on`
  const next = join(directory.path, 'next.yaml')
  writeFileSync(next, settings(at(three), at(two)))
  expect((await runCommand(['check', '--config', next])).out).toContain(warning(one, three))
  renameSync(next, file)
  gateway.reload()
  await untilLogged(gateway, warning(one, three))
  await gateway.stop()
  writeFileSync(file, settings(at(one), at(two)))
  await using again = await InProcessGateway.start(file)
  await untilLogged(again, warning(three, one))
  await three.close()
}, 60_000)

it('L52: check neither makes nor needs a ledger, and reads one in PostgreSQL', async () => {
  const file = directory.write(settings(at(one), at(two)))
  const before = readdirSync(directory.path)
  expect((await runCommand(['check', '--config', file])).exitCode).toBe(0)
  expect(readdirSync(directory.path)).toEqual(before)
  writeFileSync(file, settings(at(one), at(two), 'postgres://127.0.0.1:1/nothing'))
  expect((await runCommand(['check', '--config', file])).exitCode).toBe(0)
  const server = await startPostgres()
  const database = await server.createDatabase()
  writeFileSync(file, settings(at(one), at(two), database))
  expect((await runCommand(['check', '--config', file])).exitCode).toBe(0)
  const { gateway } = await used(settings(at(one), at(two), database))
  writeFileSync(file, settings(at(two), at(one), database))
  const { exitCode, err } = await runCommand(['check', '--config', file])
  expect([exitCode, err.join('\n')]).toEqual([1, expect.stringContaining('providers.alpha.url: ')])
  await gateway[Symbol.asyncDispose]()
  rmSync(file)
  await server.close()
}, 60_000)
