/** docs/contract.md §18.3: webhooks over TLS, sent by a process of its own: by the authorities that it was started with, to the name alone. */
import { randomBytes } from 'node:crypto'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, vi } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { startProvider } from '../checker/provider.ts'
import { type Certified, certify } from '../support/certificate.ts'
import { sendRequest } from '../support/client.ts'
import { Receiver } from './receiver.ts'

const authority = certify({ name: 'Private Authority' })
const day = 86_400_000
const certificates = {
  good: certify({ name: 'localhost', issuer: authority }),
  ofAnotherName: certify({ name: 'hooks.example', issuer: authority }),
  expired: certify({
    name: 'localhost',
    issuer: authority,
    from: new Date(Date.now() - 3 * day),
    until: new Date(Date.now() - day),
  }),
}

interface Listed {
  readonly state: string
  readonly attempts: readonly { readonly status: number | null; readonly reason?: string }[]
}

it('a private authority is unknown until NODE_EXTRA_CA_CERTS has it; another name and an expired certificate stay refused', {
  timeout: 60_000,
}, async () => {
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-webhook-tls-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const alpha = open.use(await startProvider({ form: 'A', name: 'alpha', keys: ['own-key'], journal: join(directory, 'alpha') }))
  const receiverWith = async (certificate: Certified) => open.use(await Receiver.start('127.0.0.1', certificate))
  const receivers = {
    good: await receiverWith(certificates.good),
    ofAnotherName: await receiverWith(certificates.ofAnotherName),
    expired: await receiverWith(certificates.expired),
  }
  const gateway = open.use(
    await GatewayProcess.start({
      directory,
      mode: 'managed',
      providers: { alpha: { form: 'A', url: alpha.url, key: 'own-key' } },
      sections: { webhooks: { key: randomBytes(32).toString('base64'), allow: ['127.0.0.0/8', '::1/128'] } },
    }),
  )
  const key = await gateway.createKey('acme')
  const add = async ({ port }: Receiver): Promise<string> => {
    const added = await gateway.command('webhooks', 'add', 'acme', `https://localhost:${port}/`)
    return (added as { readonly id: string }).id
  }
  const [good, ofAnotherName, expired] = [
    await add(receivers.good),
    await add(receivers.ofAnotherName),
    await add(receivers.expired),
  ]
  /** The state of the one delivery, and what each of its attempts came to. */
  const outcome = async (id: string) => {
    const [only, ...others] = (await gateway.command('webhooks', 'deliveries', id)) as readonly Listed[]
    expect(others).toEqual([])
    return only && [only.state, ...only.attempts.map(({ status, reason }) => status ?? reason)]
  }
  const order = { coinFrom: 'XRP', coinTo: 'USDTERC20', rateType: 'float', amount: 1, withdrawalAddress: '0xWithdraw1' }
  const created = await sendRequest(gateway.url, {
    method: 'POST',
    path: '/a/api/v2/transactions',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(order),
  })
  expect(created.status).toBe(201)
  await expect.poll(() => outcome(good)).toEqual(['waiting', 'tls_untrusted'])
  await gateway.stop()

  const file = join(directory, 'authority.pem')
  writeFileSync(file, authority.cert)
  vi.stubEnv('NODE_EXTRA_CA_CERTS', file)
  await gateway.start()
  await expect.poll(() => outcome(good), { timeout: 20_000 }).toEqual(['delivered', 'tls_untrusted', 200])
  await expect.poll(() => outcome(ofAnotherName), { timeout: 20_000 }).toEqual(['waiting', 'tls_untrusted', 'tls_wrong_name'])
  await expect.poll(() => outcome(expired), { timeout: 20_000 }).toEqual(['waiting', 'tls_expired', 'tls_expired'])
  expect(receivers.good.received).toHaveLength(1)
  for (const refused of [receivers.ofAnotherName, receivers.expired]) {
    expect(refused.connections).toBeGreaterThan(1)
    expect(refused.received).toEqual([])
  }
})
