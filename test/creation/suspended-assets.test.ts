// Takes long: gateways that follow each other's ledger.
/** docs/contract-operators.md §10.3: an asset whose creates are refused one after the other, over replicas with one ledger. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { GatewaySettings } from '../checker/configuration.ts'
import { type Provider, startProvider } from '../checker/provider.ts'
import { query } from '../ledger/raw.ts'
import { sendRequest } from '../support/client.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { startPostgres } from '../support/postgres.ts'

const token = 'operator-token-of-alice-0123456789'
/** A follow is at most this late. */
const soon = { timeout: 5_000, interval: 100 }

interface Facts {
  readonly providers: Readonly<Record<string, { readonly form: 'A' | 'B'; readonly account?: string }>>
  readonly routed?: readonly string[]
  readonly ledger?: string
}

class Rig {
  readonly providers = new Map<string, Provider>()
  readonly replicas: InProcessGateway[] = []
  private settings: GatewaySettings | undefined
  private key = ''
  private orders = 0
  private readonly open = new AsyncDisposableStack()

  static async start({ providers, routed = Object.keys(providers), ledger }: Facts): Promise<Rig> {
    const rig = new Rig()
    onTestFinished(() => rig.open.disposeAsync())
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-suspended-'))
    rig.open.defer(async () => rmSync(directory, { recursive: true }))
    for (const [name, { form }] of Object.entries(providers)) {
      const provider = await startProvider({ form, name, keys: [`own-key-of-${name}`], journal: join(directory, name) })
      rig.providers.set(name, rig.open.use(provider))
    }
    const configured = Object.entries(providers).map(([name, facts]) => {
      const url = rig.providers.get(name)?.url ?? ''
      return [name, { ...facts, url, key: `own-key-of-${name}` }] as const
    })
    rig.settings = {
      directory,
      mode: 'managed',
      admin: { tokens: { alice: token } },
      providers: Object.fromEntries(configured),
      sections: { routing: { providers: routed } },
      ...(ledger !== undefined && { ledger }),
    }
    await rig.addReplica()
    await rig.addReplica()
    rig.key = await rig.replica(0).createKey('acme')
    return rig
  }

  replica(at: number): InProcessGateway {
    return this.replicas.at(at) as InProcessGateway
  }

  /** From a file of its own. */
  async addReplica(): Promise<InProcessGateway> {
    const replica = this.open.use(await InProcessGateway.start(this.settings as GatewaySettings))
    this.replicas.push(replica)
    return replica
  }

  /** The provider and the status of a create, each at another address. */
  async create(at: number, coinFrom = 'XRP', coinTo = 'USDTERC20'): Promise<string> {
    const order = { coinFrom, coinTo, amount: 1, withdrawalAddress: `0xWithdraw${++this.orders}`, rateType: 'float' }
    const { status, headers } = await sendRequest(this.replica(at).url, {
      method: 'POST',
      path: '/a/api/v2/transactions',
      headers: { authorization: `Bearer ${this.key}`, 'content-type': 'application/json' },
      body: JSON.stringify(order),
    })
    return `${headers['x-swap-provider'] ?? 'nobody'} ${status}`
  }

  /** A create that is refused since its provider names another amount. */
  async mismatch(at: number, provider = 'alpha'): Promise<void> {
    await this.providers.get(provider)?.fault({ operation: 'create', swap: 'amount' })
    expect(await this.create(at)).toBe(`${provider} 502`)
  }

  /** By quotes: a create that passes would end what is waited for. */
  async untilQuoted(at: number, outcome: string): Promise<void> {
    const quote = { path: '/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=1' }
    const quoted = async (): Promise<string> => {
      const { status, headers } = await sendRequest(this.replica(at).url, quote)
      return `${headers['x-swap-provider'] ?? 'nobody'} ${status}`
    }
    await expect.poll(quoted, soon).toBe(outcome)
  }

  async json(at: number, path: string, method = 'GET'): Promise<unknown> {
    const response = await sendRequest(this.replica(at).adminUrl, { method, path, headers: { authorization: `Bearer ${token}` } })
    expect(response.status, response.text).toBe(200)
    return JSON.parse(response.text)
  }

  suspendedAt(at: number, name = 'alpha'): Promise<unknown> {
    return this.json(at, `/api/providers/${name}`).then((provider) => (provider as { suspended: unknown }).suspended)
  }

  /** On the SQLite ledger. */
  async query(statement: string): Promise<void> {
    await query(`sqlite:${join(this.settings?.directory ?? '', 'ledger.db')}`, statement)
  }

  async counted(): Promise<number> {
    const printed = await Promise.all(this.replicas.map((replica) => replica.metrics()))
    const values = printed.map((text) => /^swapgate_provider_assets_suspended_total\{.*\} (\d+)$/m.exec(text)?.[1] ?? '0')
    return values.reduce((sum, value) => sum + Number(value), 0)
  }
}

const stores: Readonly<Record<string, () => Promise<string | undefined>>> = {
  SQLite: async () => undefined,
  async PostgreSQL() {
    const server = await startPostgres()
    onTestFinished(server.close)
    return await server.createLedger()
  },
}

describe.each(Object.keys(stores))('with %s', (store) => {
  const start = async (facts: Facts): Promise<Rig> => {
    const ledger = await stores[store]?.()
    return await Rig.start({ ...facts, ...(ledger !== undefined && { ledger }) })
  }

  test('three mismatches at any replicas take the asset out at all of them, through reloads and restarts, until a reset of this provider', {
    timeout: 60_000,
  }, async () => {
    const rig = await start({ providers: { alpha: { form: 'A' }, beta: { form: 'B' } }, routed: ['alpha'] })
    for (const at of [0, 1, 0]) await rig.mismatch(at)
    expect(await rig.create(0)).toBe('nobody 503')
    await rig.untilQuoted(1, 'nobody 503')
    expect(await rig.create(1, 'BTC')).toBe('alpha 201')
    expect(await rig.suspendedAt(1)).toEqual([
      { kind: 'amount', asset: 'XRP', network: 'XRP', since: expect.any(String), until: expect.any(String) },
    ])
    expect(await rig.suspendedAt(1, 'beta')).toEqual([])

    const { file } = rig.replica(0)
    writeFileSync(file, readFileSync(file, 'utf8').replace('"quotes":100000', '"quotes":99999'))
    rig.replica(0).reload()
    await expect.poll(() => rig.replica(0).output, soon).toContain('the configuration was read again')
    expect(await rig.create(0)).toBe('nobody 503')
    await rig.json(0, '/api/overrides/beta', 'DELETE')
    expect(await rig.create(0)).toBe('nobody 503')
    await rig.addReplica()
    expect(await rig.create(-1)).toBe('nobody 503')

    expect(await rig.counted()).toBe(1)
    expect(rig.replicas.map(({ output }) => output).join('')).toContain(
      '"event":"asset_suspended","provider":"alpha","kind":"amount","network":"XRP"',
    )
    await rig.json(0, '/api/overrides/alpha', 'DELETE')
    expect(await rig.create(0)).toBe('alpha 201')
    await rig.untilQuoted(1, 'alpha 200')
    expect(await rig.suspendedAt(0)).toEqual([])
    const audit = (await rig.json(0, '/api/audit')) as readonly object[]
    expect(audit.filter((record) => 'action' in record && record.action === 'provider.resume')).toMatchObject([
      { actor: 'alice', subject: 'alpha', before: [{ kind: 'amount', asset: 'XRP' }], after: null },
    ])
  })

  test('a create that passes at another replica starts the count again', async () => {
    const rig = await start({ providers: { alpha: { form: 'A' } } })
    await rig.mismatch(0)
    await rig.mismatch(0)
    expect(await rig.create(1)).toBe('alpha 201')
    await rig.mismatch(0)
    await rig.mismatch(1)
    expect(await rig.create(0)).toBe('alpha 201')
  })

  test('two tags with one account are one: the asset is out at both, and a reset of one ends it', { timeout: 60_000 }, async () => {
    const providers = { alpha: { form: 'A', account: 'one' }, other: { form: 'B', account: 'one' }, beta: { form: 'B' } } as const
    const rig = await start({ providers })
    for (const at of [0, 1, 0]) await rig.mismatch(at)
    expect(await rig.create(0)).toBe('beta 201')
    await rig.untilQuoted(1, 'beta 200')
    expect(await rig.suspendedAt(0, 'other')).toEqual(await rig.suspendedAt(0))
    expect(await rig.suspendedAt(0, 'beta')).toEqual([])
    await rig.replica(0).command('providers', 'reset', 'other')
    await rig.untilQuoted(0, 'alpha 200')
  })
})

test('the status names what is suspended, and it is over after ten minutes', async () => {
  const rig = await Rig.start({ providers: { alpha: { form: 'A' }, beta: { form: 'B' } } })
  for (const at of [0, 0, 0]) await rig.mismatch(at)
  const status = (await rig.replica(0).command('providers', 'status')) as { readonly providers: readonly object[] }
  const [suspended] = status.providers.flatMap((provider) => ('suspended' in provider ? provider.suspended : [])) as readonly {
    readonly since: string
    readonly until: string
  }[]
  expect(suspended).toMatchObject({ kind: 'amount', asset: 'XRP', network: 'XRP' })
  expect(Date.parse(suspended?.until ?? '') - Date.parse(suspended?.since ?? '')).toBe(600_000)
  await rig.query('UPDATE mismatch_streaks SET since = since - 600000')
  expect(await rig.suspendedAt(0)).toEqual([])
  await rig.untilQuoted(0, 'alpha 200')
})

test('an asset whose network or contract is wrong is out on both sides, whatever is deposited for it', async () => {
  const rig = await Rig.start({ providers: { alpha: { form: 'A' } } })
  for (const coinFrom of ['XRP', 'BTC', 'ETH']) {
    await rig.providers.get('alpha')?.fault({ operation: 'create', swap: 'networkTo' })
    expect(await rig.create(0, coinFrom)).toBe('alpha 502')
  }
  expect(await rig.suspendedAt(0)).toMatchObject([{ kind: 'network', asset: 'USDTERC20', network: 'ETH' }])
  expect([await rig.create(0, 'XRP'), await rig.create(0, 'USDTERC20', 'XRP')]).toEqual(['nobody 503', 'nobody 503'])
  expect(await rig.create(0, 'XRP', 'USDTTRC20')).toBe('alpha 201')
})

test('mismatches that the ledger cannot take are counted once it can, and meanwhile nothing is refused or lost', async () => {
  const rig = await Rig.start({ providers: { alpha: { form: 'A' } } })
  await rig.query(
    `CREATE TRIGGER frozen BEFORE UPDATE ON transactions WHEN NEW.state IN ('done', 'mismatch') BEGIN SELECT RAISE(ABORT, 'no'); END`,
  )
  for (const at of [0, 0, 1]) await rig.mismatch(at)
  await rig.untilQuoted(0, 'alpha 200')
  await rig.query('DROP TRIGGER frozen')
  for (const at of [0, 1]) await rig.untilQuoted(at, 'nobody 503')
  const unresolved = (await rig.replica(0).command('ledger', 'unknown')) as readonly { readonly state: string }[]
  expect(unresolved.map(({ state }) => state)).toEqual(['mismatch', 'mismatch', 'mismatch'])
})
