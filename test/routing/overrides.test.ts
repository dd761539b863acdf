// Takes long: many starts.
/** docs/contract.md §12: what a person sets in place of the file, as processes follow it. */
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openLedger } from '../../src/adapters/ledger/index.ts'
import type { OverrideChange } from '../../src/core/operations/overrides.ts'
import { Swapgate, Workplace } from '../process/swapgate.ts'
import { sendRequest } from '../support/client.ts'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type ProviderB, startFormB } from '../support/form-b.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { startPostgresProxy } from '../support/postgres-proxy.ts'

const quote = '/a/api/v2/rate?coinFrom=BTC&coinTo=BTC&amount=1'
const maxMs = 5_000

let alpha: ProviderA
let beta: ProviderB
let workplace: Workplace
let postgres: Postgres
let gateways: Swapgate[]
let ledgerUrl: string

function settings(state = 'active', more = ''): string {
  return `
server: { port: 0, grace: 0 }
admin: { port: 0 }
auth: { mode: managed }
cache: { rate: 0 }
limits: { quotes: 100000 }
ledger: { url: "${ledgerUrl}" }
providers:
  alpha: { form: A, url: "${alpha.url}", key: provider-key-1, state: ${state}, budget: { quotes: 0 } }
  beta: { form: B, url: "${beta.url}", key: provider-key-2, budget: { quotes: 0 } }
routing: { providers: [alpha, beta] }
${more}`
}

interface Running {
  readonly process: Swapgate
  readonly url: string
}

async function start(file: string): Promise<Running> {
  const process = new Swapgate(['start', '--config', file])
  gateways.push(process)
  return { process, url: (await process.urls()).get('gateway') as string }
}

async function stop({ process }: Running): Promise<void> {
  process.child.kill('SIGTERM')
  expect((await process.ended).exitCode).toBe(0)
}

/** As the commands write it. */
async function change(...changes: readonly Partial<OverrideChange>[]): Promise<void> {
  const { overrides, close } = await openLedger(ledgerUrl)
  const drain = { key: 'state:alpha', value: 'draining', fileValue: 'active', before: 'active' } as const
  await overrides.change(
    changes.map((facts) => ({ ...drain, ...facts })),
    'cli:alice@box',
  )
  await close()
}

async function audited(): Promise<readonly unknown[]> {
  const { audit, close } = await openLedger(ledgerUrl)
  const records = await audit.read({})
  await close()
  return records.map(({ actor, action, subject, before, after }) => [actor, action, subject, before, after])
}

/** The tag of the provider, or what was refused. */
const answering = async ({ url }: Running): Promise<unknown> => {
  const { headers, status, text } = await sendRequest(url, { path: quote })
  return headers['x-swap-provider'] ?? `${status} ${headers['x-swap-reason']} ${text}`
}
async function outcome(url: string): Promise<string> {
  const { status, headers } = await sendRequest(url, { path: quote })
  return [status, headers['x-swap-reason'] ?? []].flat().join(' ')
}

const untilAnswers = (provider: string, ...running: readonly Running[]): Promise<void> =>
  expect.poll(() => Promise.all(running.map(answering)), { timeout: maxMs, interval: 50 }).toEqual(running.map(() => provider))
const untilPrinted = ({ process }: Running, text: string): Promise<void> =>
  expect.poll(() => process.outputText(), { timeout: maxMs }).toContain(text)

beforeEach(async () => {
  gateways = []
  workplace = new Workplace()
  alpha = await startFormA()
  beta = await startFormB()
})
afterEach(async () => {
  await Promise.all(gateways.map((gateway) => gateway[Symbol.asyncDispose]()))
  await Promise.all([alpha.close(), beta.close()])
  workplace[Symbol.dispose]()
  await postgres?.close()
})

describe.each(['SQLite', 'PostgreSQL'])('on %s', (store) => {
  beforeEach(async () => {
    if (store === 'PostgreSQL') postgres = await startPostgres()
    ledgerUrl = store === 'SQLite' ? `sqlite:${join(workplace.directory, 'ledger.db')}` : await postgres.createDatabase()
  })

  it('O2: every replica follows within 5 s without a failed request, also one that is started later', {
    timeout: 60_000,
  }, async () => {
    const file = workplace.write(settings())
    const running = [await start(file), await start(file)]
    await untilAnswers('alpha', ...running)
    let isOver = false
    const answers = new Set<string>()
    const load = running.flatMap(({ url }) =>
      [1, 2].map(async () => {
        while (!isOver) answers.add(await outcome(url))
      }),
    )
    await change({})
    await untilAnswers('beta', ...running)
    await change({ value: 'active', before: 'draining' })
    await untilAnswers('alpha', ...running)
    await change({})
    await untilAnswers('beta', ...running)
    isOver = true
    await Promise.all(load)
    // A busy machine sheds load, whatever is switched.
    expect([...answers].filter((answer) => answer !== '503 overloaded')).toEqual(['200'])
    const later = await start(file)
    expect(await answering(later)).toBe('beta')
    const warning = /^warning: state:alpha is "draining", set by cli:alice@box at 20\S+Z; the file says "active"$/
    await expect.poll(() => later.process.printed).toContainEqual(expect.stringMatching(warning))
    await change({ value: undefined })
    await untilAnswers('alpha', ...running, later)
  })

  it('O4: a change of the file ends it, once, and it does not come back with the file', { timeout: 60_000 }, async () => {
    const file = workplace.write(settings())
    const running = [await start(file), await start(file)]
    await change({})
    await untilAnswers('beta', ...running)
    writeFileSync(file, settings('active', 'log: { requests: false }'))
    await Promise.all(running.map((each) => untilPrinted(each, 'was read again')))
    await delay(2_500)
    expect(await Promise.all(running.map(answering))).toEqual(['beta', 'beta'])
    writeFileSync(`${file}.new`, settings('off'))
    renameSync(`${file}.new`, file)
    await Promise.all(running.map((each) => untilPrinted(each, '"change":"ended"')))
    expect(await Promise.all(running.map(answering))).toEqual(['beta', 'beta'])
    writeFileSync(file, settings('active'))
    await untilAnswers('alpha', ...running)
    const [ended, ...older] = await audited()
    expect(ended).toEqual(['file', 'override.ended', 'state:alpha', 'draining', 'off'])
    expect(older).toHaveLength(1)
    const later = await start(file)
    expect(await answering(later)).toBe('alpha')
    expect(later.process.outputText()).not.toContain('state:alpha')
  })
})

it('O2: goes on with what it has while the ledger is lost, and is not started without it', { timeout: 60_000 }, async () => {
  postgres = await startPostgres()
  const direct = await postgres.createDatabase()
  const proxy = await startPostgresProxy(direct)
  ledgerUrl = proxy.url
  const file = workplace.write(settings())
  const gateway = await start(file)
  await change({})
  await untilAnswers('beta', gateway)
  proxy.refuse()
  proxy.cut()
  await delay(2_500)
  expect(await answering(gateway)).toBe('beta')
  writeFileSync(file, settings('active', 'docs: false'))
  await untilPrinted(gateway, 'was read again')
  expect(await answering(gateway)).toBe('beta')
  await expect(start(file)).rejects.toThrow('it ended with 1')
  writeFileSync(file, settings('active', 'docs: false').replace('alpha, beta', 'beta, alpha'))
  await proxy.admit()
  ledgerUrl = direct
  await change({ value: undefined })
  await untilPrinted(gateway, '"change":"reset"')
  proxy.close()
})

describe('a process', () => {
  beforeEach(() => {
    ledgerUrl = `sqlite:${join(workplace.directory, 'ledger.db')}`
  })

  it('O4: that is started with another file ends it, and logs it', { timeout: 60_000 }, async () => {
    const first = await start(workplace.write(settings()))
    await change({})
    await untilAnswers('beta', first)
    await stop(first)
    const second = await start(workplace.write(settings('draining')))
    expect(await answering(second)).toBe('beta')
    await untilPrinted(second, '"event":"override","key":"state:alpha","change":"ended","value":"draining","file_value":"draining"')
    await stop(second)
    expect(await answering(await start(workplace.write(settings('active'))))).toBe('alpha')
  })

  it('O2: that was killed goes on where it was', { timeout: 60_000 }, async () => {
    const file = workplace.write(settings())
    const first = await start(file)
    await change({})
    first.process.child.kill('SIGKILL')
    await first.process.ended
    expect(await answering(await start(file))).toBe('beta')
  })

  it('O7: with the old file goes on with what a newer file has ended, until it reads its file anew', {
    timeout: 60_000,
  }, async () => {
    const oldFile = workplace.write(settings())
    const old = await start(oldFile)
    await change({})
    await untilAnswers('beta', old)
    const { length } = alpha.received('rate')
    const newFile = join(workplace.directory, 'new.yaml')
    writeFileSync(newFile, settings('draining'))
    const next = await start(newFile)
    await delay(3_000)
    expect(await Promise.all([old, next].map(answering))).toEqual(['beta', 'beta'])
    expect(await audited()).toHaveLength(2)
    writeFileSync(oldFile, settings('draining'))
    await untilPrinted(old, 'was read again')
    expect(await answering(old)).toBe('beta')
    expect(alpha.received('rate')).toHaveLength(length)
  })

  it('O9: a reload and an override at the same moment are both taken', { timeout: 60_000 }, async () => {
    const file = workplace.write(settings())
    const gateway = await start(file)
    for (let n = 0; n < 5; n++) {
      const isDraining = n % 2 === 0
      const [value, before] = isDraining ? ['draining', 'active'] : ['active', 'draining']
      writeFileSync(file, settings('active', `docs: ${isDraining}`))
      gateway.process.child.kill('SIGHUP')
      await change({ value, before })
      await untilAnswers(isDraining ? 'beta' : 'alpha', gateway)
      await expect.poll(async () => (await fetch(`${gateway.url}/docs`)).status).toBe(isDraining ? 200 : 404)
    }
  })

  it('names the file by its hash in the log', { timeout: 60_000 }, async () => {
    const file = workplace.write(settings())
    const gateway = await start(file)
    writeFileSync(file, settings('active', 'docs: false'))
    await expect.poll(() => gateway.process.outputText(), { timeout: maxMs }).toMatch(/"event":"reload".*"hash":"[0-9a-f]{64}"/)
  })
})
