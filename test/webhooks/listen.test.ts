/** `swapgate webhooks listen` and `trigger`: a receiver is written before there is a webhook. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { makeWebhookSecret } from '../../src/adapters/webhook-crypto.ts'
import { Swapgate } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { runCommand } from '../support/command.ts'
import { freePort } from '../support/free-port.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { type Received, Receiver } from './receiver.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-listen-'))
const file = join(directory, 'gateway.yaml')
const timeout = 60_000
let gateway: InProcessGateway

beforeAll(async () => {
  const port = await freePort(27_000, 1_000)
  const settings = {
    server: { port: 0, shutdownDelay: 0 },
    admin: { port: 0 },
    auth: { mode: 'managed' },
    ledger: { url: `sqlite:${join(directory, 'ledger.db')}` },
    assets: resolve('config/assets.yaml'),
    providers: { alpha: { form: 'A', url: `http://127.0.0.1:${port}/a/api/v2`, key: 'sandbox-key-1', sandbox: true } },
    routing: { providers: ['alpha'] },
    sandbox: { enabled: true, port, data: join(directory, 'sandbox.db') },
  }
  writeFileSync(file, JSON.stringify(settings))
  gateway = await InProcessGateway.start(file)
}, timeout)
afterAll(async () => {
  await gateway?.stop()
  rmSync(directory, { recursive: true, force: true })
})

async function create(key: string): Promise<string> {
  const order = { coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, withdrawalAddress: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE' }
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const request = { method: 'POST', path: '/a/api/v2/transactions', headers, body: JSON.stringify(order) }
  return ((await sendRequest(gateway.url, request)).json as { readonly id: string }).id
}

function verified({ headers, body }: Received, secret: string): { readonly type: string; readonly data: { readonly id?: string } } {
  return new Webhook(secret).verify(body, headers as Record<string, string>) as ReturnType<typeof verified>
}

const secretOf = (line = ''): string => /whsec_\S+/.exec(line)?.[0] ?? ''

describe('webhooks listen', { timeout }, () => {
  it('prints and forwards what a webhook of the account would get, on loopback, until Ctrl-C, and leaves nothing', async () => {
    await using receiver = await Receiver.start()
    const [key, another] = [await gateway.createKey('acme'), await gateway.createKey('globex')]
    await create(key)
    const forwardTo = `http://127.0.0.1:${receiver.port}/swaps`
    await using listening = new Swapgate(['webhooks', 'listen', 'acme', '--forward-to', forwardTo, '--config', file])
    await listening.urls() // its first line
    await create(another)
    const id = await create(key)
    await vi.waitUntil(() => receiver.received.length > 0, { timeout: 30_000 })
    const first = receiver.received[0] as Received
    const secret = secretOf(listening.printed[0])
    expect(verified(first, secret)).toMatchObject({ type: 'transaction.updated', data: { id, status: 'wait' } })
    expect(first.headers).toMatchObject({
      'webhook-id': expect.stringMatching(/^wh_[0-9a-f]{32}_\d+$/),
      'content-type': 'application/json',
      'user-agent': expect.stringMatching(/^swapgate\//),
    })
    await vi.waitUntil(() => listening.printed.includes(first.body), { timeout: 30_000 })
    expect(listening.outputText()).toMatch(new RegExp(`${id} wait: 200 after \\d+ ms`))
    listening.child.kill('SIGINT')
    expect((await listening.ended).exitCode).toBe(0)
    expect(receiver.received.length).toBe(1)
    expect(await gateway.command('webhooks', 'list')).toEqual([])
  })

  it('says that there is no such account', async () => {
    const { exitCode, err } = await runCommand(['webhooks', 'listen', 'nobody', '--config', file])
    expect([exitCode, err]).toEqual([1, ['swapgate: no account has the name nobody']])
  })
})

describe('webhooks trigger', () => {
  it('sends one of each type, signed with the secret that it is given or prints', async () => {
    await using receiver = await Receiver.start()
    const url = `http://127.0.0.1:${receiver.port}/swaps`
    const made = await runCommand(['webhooks', 'trigger', url, '--config', file])
    expect(made.exitCode).toBe(0)
    const secret = secretOf(made.out[0])
    await runCommand(['webhooks', 'trigger', url, '--secret', secret, '--config', file])
    const types = receiver.received.map((received) => verified(received, secret).type)
    expect(types).toEqual(['webhook.test', 'transaction.updated', 'webhook.test', 'transaction.updated'])
  })

  it('is exit code 1 if the receiver does not take all', async () => {
    await using receiver = await Receiver.start()
    receiver.respond = (_, response) => response.writeHead(500).end()
    const { exitCode } = await runCommand(['webhooks', 'trigger', `http://127.0.0.1:${receiver.port}/`, '--config', file])
    expect(exitCode).toBe(1)
  })

  it('the example verifies what comes, and refuses what another secret has signed', async () => {
    const port = await freePort(27_000, 1_000)
    const url = `http://127.0.0.1:${port}/`
    const [secret, another] = [makeWebhookSecret(), makeWebhookSecret()]
    const program = resolve('examples/typescript/webhooks.ts')
    await using receiver = new Swapgate([secret], { program, env: { PORT: String(port) } })
    await receiver.urls() // its first line
    const send = async (signedWith: string) =>
      (await runCommand(['webhooks', 'trigger', url, '--secret', signedWith, '--config', file])).exitCode
    expect([await send(secret), await send(another)]).toEqual([0, 1])
    await vi.waitUntil(() => receiver.printed.length > 4, { timeout: 30_000 })
    expect(receiver.printed.slice(1)).toEqual([
      'verified: webhook.test',
      expect.stringMatching(/^verified: transaction\.updated \S+ \w+$/),
      'refused: No matching signature found',
      'refused: No matching signature found',
    ])
  })
})
