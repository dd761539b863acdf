// Takes long: many starts.
/** docs/contract-operators.md §12: overrides of the file, and how gateways apply them. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { test as base, describe, expect, vi } from 'vitest'
import type { OverrideChange } from '../../src/core/operations/settings.ts'
import type { ProviderState } from '../../src/domain/service.ts'
import { openLedger } from '../../src/ledger/index.ts'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { eventTimeoutMs } from '../support/event-timeout.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'

const quote = '/a/api/v2/rate?coinFrom=ETH&coinTo=BTC&amount=1'
const pollOptions = { timeout: eventTimeoutMs, interval: 50 }

/** Of `alpha`; the value undefined is a reset. */
interface StateChange {
  readonly value?: ProviderState | undefined
  readonly fileValue?: ProviderState
  readonly before?: ProviderState
}

class Rig implements AsyncDisposable {
  readonly directory = new ConfigDirectory()
  readonly alpha: ProviderA
  readonly beta: ProviderB
  ledgerUrl = `sqlite:${join(this.directory.path, 'ledger.db')}`
  private readonly gateways: InProcessGateway[] = []
  private postgres: Postgres | undefined

  constructor(alpha: ProviderA, beta: ProviderB) {
    this.alpha = alpha
    this.beta = beta
  }

  /** The ledger is a new database of PostgreSQL from now on. */
  async usePostgres(): Promise<void> {
    this.postgres ??= await startPostgres()
    this.ledgerUrl = await this.postgres.createLedger()
  }

  settings(state = 'active', more = ''): string {
    return `
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
auth: { mode: managed }
cache: { rate: 0 }
limits: { quotes: 100000 }
ledger: { url: "${this.ledgerUrl}" }
providers:
  alpha: { form: A, url: "${this.alpha.url}", key: provider-key-1, state: ${state}, rateLimit: { quotes: 0 } }
  beta: { form: B, url: "${this.beta.url}", key: provider-key-2, rateLimit: { quotes: 0 } }
routing: { providers: [alpha, beta] }
${more}`
  }

  async start(file: string): Promise<InProcessGateway> {
    const gateway = await InProcessGateway.start(file)
    this.gateways.push(gateway)
    return gateway
  }

  /** As the commands write it. */
  async change({ before = 'active', ...facts }: StateChange = {}): Promise<void> {
    const { overrides, close } = await openLedger(this.ledgerUrl)
    const change = { key: 'state:alpha', value: 'draining', fileValue: 'active', ...facts } as const
    const shown = { key: change.key, before, after: change.value ?? change.fileValue }
    await overrides.change([{ ...change, shown } as OverrideChange], 'cli:alice@box')
    await close()
  }

  async audited(): Promise<readonly unknown[]> {
    const { audit, close } = await openLedger(this.ledgerUrl)
    const records = await audit.read({})
    await close()
    return records.map(({ actor, action, subject, before, after }) => [actor, action, subject, before, after])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
    await Promise.all([this.alpha.close(), this.beta.close()])
    this.directory[Symbol.dispose]()
    await this.postgres?.close()
  }
}

/** Each test has providers, gateways and a ledger of its own: they mostly wait, and so they run side by side. */
const it = base.extend<{ rig: Rig }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used from the pattern.
  rig: async ({}, use) => {
    await using rig = new Rig(await startFormA(), await startFormB())
    await use(rig)
  },
}).concurrent

/** The tag of the provider, or what was refused. */
const respondingProvider = async ({ url }: { readonly url: string }): Promise<unknown> => {
  const { headers, status, text } = await sendRequest(url, { path: quote })
  return headers['x-swap-provider'] ?? `${status} ${headers['x-swap-reason']} ${text}`
}
async function outcome(url: string): Promise<string> {
  const { status, headers } = await sendRequest(url, { path: quote })
  return [status, headers['x-swap-reason'] ?? []].flat().join(' ')
}

const untilProvider = (provider: string, ...running: readonly InProcessGateway[]): Promise<void> =>
  vi.waitFor(
    async () => expect(await Promise.all(running.map(respondingProvider))).toEqual(running.map(() => provider)),
    pollOptions,
  )
const untilPrinted = (gateway: InProcessGateway, text: string): Promise<void> =>
  vi.waitFor(() => expect(gateway.output).toContain(text), pollOptions)

describe.each(['SQLite', 'PostgreSQL'])('on %s', (store) => {
  it('O2: every replica follows within 5 s without a failed request, also one that is started later', {
    timeout: 60_000,
  }, async ({ rig }) => {
    if (store === 'PostgreSQL') await rig.usePostgres()
    const file = rig.directory.write(rig.settings())
    const running = [await rig.start(file), await rig.start(file)]
    await untilProvider('alpha', ...running)
    let isOver = false
    const outcomes = new Set<string>()
    const load = running.flatMap(({ url }) =>
      [1, 2].map(async () => {
        while (!isOver) {
          outcomes.add(await outcome(url))
          await delay(20)
        }
      }),
    )
    await rig.change()
    await untilProvider('beta', ...running)
    await rig.change({ value: 'active', before: 'draining' })
    await untilProvider('alpha', ...running)
    await rig.change()
    await untilProvider('beta', ...running)
    isOver = true
    await Promise.all(load)
    // A busy machine sheds load, whatever is switched.
    expect([...outcomes].filter((other) => other !== '503 overloaded')).toEqual(['200'])
    const later = await rig.start(file)
    expect(await respondingProvider(later)).toBe('beta')
    const warning = /^warning: state:alpha is "draining", set by cli:alice@box at 20\S+Z; the file says "active"$/
    await vi.waitFor(() => expect(later.printed).toContainEqual(expect.stringMatching(warning)), pollOptions)
    await rig.change({ value: undefined })
    await untilProvider('alpha', ...running, later)
  })

  it('O4: a change of the file ends one that gives, once, and it does not come back with the file', {
    timeout: 60_000,
  }, async ({ rig }) => {
    if (store === 'PostgreSQL') await rig.usePostgres()
    const file = rig.directory.write(rig.settings('draining'))
    const running = [await rig.start(file), await rig.start(file)]
    await rig.change({ value: 'active', fileValue: 'draining', before: 'draining' })
    await untilProvider('alpha', ...running)
    writeFileSync(file, rig.settings('draining', 'log: { requests: false }'))
    await Promise.all(running.map((each) => untilPrinted(each, 'was read again')))
    await delay(2_500)
    expect(await Promise.all(running.map(respondingProvider))).toEqual(['alpha', 'alpha'])
    writeFileSync(`${file}.new`, rig.settings('off'))
    renameSync(`${file}.new`, file)
    await Promise.all(running.map((each) => untilPrinted(each, '"change":"ended"')))
    expect(await Promise.all(running.map(respondingProvider))).toEqual(['beta', 'beta'])
    writeFileSync(file, rig.settings('draining'))
    await delay(2_500)
    await untilProvider('beta', ...running)
    const [ended, ...older] = await rig.audited()
    expect(ended).toEqual(['file', 'override.ended', 'state:alpha', 'active', 'off'])
    expect(older).toHaveLength(1)
    const later = await rig.start(file)
    expect(await respondingProvider(later)).toBe('beta')
    expect(later.output).not.toContain('state:alpha')
  })

  it('O4: no change of the file ends one that takes away, and a start reports it', { timeout: 60_000 }, async ({ rig }) => {
    if (store === 'PostgreSQL') await rig.usePostgres()
    const file = rig.directory.write(rig.settings())
    const running = await rig.start(file)
    await rig.change()
    await untilProvider('beta', running)
    for (const [at, state] of ['off', 'active'].entries()) {
      writeFileSync(file, rig.settings(state, `docs: ${at === 0}`))
      await untilPrinted(running, `state:alpha is "draining", set by cli:alice@box at `)
      await untilPrinted(running, `the file says "${state}"`)
      expect(await respondingProvider(running)).toBe('beta')
    }
    const later = await rig.start(file)
    expect(await respondingProvider(later)).toBe('beta')
    await untilPrinted(later, 'state:alpha is "draining", set by cli:alice@box at ')
    expect(await rig.audited()).toHaveLength(1)
    await rig.change({ value: undefined, before: 'draining' })
    await untilProvider('alpha', running, later)
  })
})

it('O2: goes on with what it has while the ledger is lost, and is not started without it', { timeout: 60_000 }, async ({ rig }) => {
  await rig.usePostgres()
  const direct = rig.ledgerUrl
  const proxy = await startPostgresProxy(direct)
  rig.ledgerUrl = proxy.url
  const file = rig.directory.write(rig.settings())
  const gateway = await rig.start(file)
  await rig.change()
  await untilProvider('beta', gateway)
  proxy.refuse()
  proxy.cut()
  await delay(2_500)
  expect(await respondingProvider(gateway)).toBe('beta')
  writeFileSync(file, rig.settings('active', 'docs: false'))
  await untilPrinted(gateway, 'was read again')
  expect(await respondingProvider(gateway)).toBe('beta')
  await expect(rig.start(file)).rejects.toThrow('it ended with 1')
  writeFileSync(file, rig.settings('active', 'docs: false').replace('alpha, beta', 'beta, alpha'))
  await proxy.admit()
  rig.ledgerUrl = direct
  await rig.change({ value: undefined })
  await untilPrinted(gateway, '"change":"reset"')
  proxy.close()
})

describe('a gateway', () => {
  it('O4: that is started with another file ends one that gives, and logs it', { timeout: 60_000 }, async ({ rig }) => {
    const first = await rig.start(rig.directory.write(rig.settings('draining')))
    await rig.change({ value: 'active', fileValue: 'draining', before: 'draining' })
    await untilProvider('alpha', first)
    expect(await first.stop()).toBe(true)
    const second = await rig.start(rig.directory.write(rig.settings('off')))
    expect(await respondingProvider(second)).toBe('beta')
    await untilPrinted(second, '"event":"override","key":"state:alpha","change":"ended","value":"active","file_value":"off"')
    expect(await second.stop()).toBe(true)
    expect(await respondingProvider(await rig.start(rig.directory.write(rig.settings('draining'))))).toBe('beta')
  })

  it('O6: sleeps while the file lacks the provider, and follows its tag through a rename', { timeout: 60_000 }, async ({ rig }) => {
    const settings = rig.settings()
    const file = rig.directory.write(settings)
    const gateway = await rig.start(file)
    await rig.change()
    await untilProvider('beta', gateway)
    const renamed = settings.replace(/alpha:/, 'eu:').replace('[alpha, beta]', '[eu, beta]')
    writeFileSync(file, renamed.replace('form: A,', 'form: A, tag: other,'))
    await untilPrinted(gateway, '"change":"asleep"')
    await untilProvider('other', gateway)
    expect(gateway.output).toContain('it has no effect with this file, which has no such provider, and stays until a reset')
    writeFileSync(file, renamed.replace('form: A,', 'form: A, tag: alpha,'))
    await untilProvider('beta', gateway)
    expect(gateway.output).toContain('state:eu is "draining", set by cli:alice@box at ')
    expect(await rig.audited()).toHaveLength(1)
  })

  it('O2: that was killed goes on where it was', { timeout: 60_000 }, async ({ rig }) => {
    const file = rig.directory.write(rig.settings())
    await using first = new Swapgate(['start', '--config', file])
    await first.urls()
    await rig.change()
    first.child.kill('SIGKILL')
    await first.ended
    expect(await respondingProvider(await rig.start(file))).toBe('beta')
  })

  it('O7: with the old file goes on with what a newer file has ended, until it reads its file anew', {
    timeout: 60_000,
  }, async ({ rig }) => {
    const oldFile = rig.directory.write(rig.settings('draining'))
    const old = await rig.start(oldFile)
    await rig.change({ value: 'active', fileValue: 'draining', before: 'draining' })
    await untilProvider('alpha', old)
    const newFile = join(rig.directory.path, 'new.yaml')
    writeFileSync(newFile, rig.settings('off'))
    const next = await rig.start(newFile)
    await delay(3_000)
    expect(await Promise.all([old, next].map(respondingProvider))).toEqual(['alpha', 'beta'])
    expect(await rig.audited()).toHaveLength(2)
    writeFileSync(oldFile, rig.settings('off'))
    await untilPrinted(old, 'was read again')
    expect(await respondingProvider(old)).toBe('beta')
  })

  it('O9: a reload and an override at the same moment are both taken', { timeout: 60_000 }, async ({ rig }) => {
    const file = rig.directory.write(rig.settings())
    const gateway = await rig.start(file)
    for (let n = 0; n < 5; n++) {
      const isDraining = n % 2 === 0
      const [value, before] = isDraining ? (['draining', 'active'] as const) : (['active', 'draining'] as const)
      writeFileSync(file, rig.settings('active', `docs: ${isDraining}`))
      gateway.reload()
      await rig.change({ value, before })
      await untilProvider(isDraining ? 'beta' : 'alpha', gateway)
      await vi.waitFor(async () => expect((await fetch(`${gateway.url}/docs`)).status).toBe(isDraining ? 200 : 404), pollOptions)
    }
  })

  it('names the file by its hash in the log', { timeout: 60_000 }, async ({ rig }) => {
    const file = rig.directory.write(rig.settings())
    const gateway = await rig.start(file)
    writeFileSync(file, rig.settings('active', 'docs: false'))
    await vi.waitFor(() => expect(gateway.output).toMatch(/"event":"reload".*"hash":"[0-9a-f]{64}"/), pollOptions)
  })
})
