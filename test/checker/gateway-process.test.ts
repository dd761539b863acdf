import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { assets } from '../support/swaps.ts'
import { violations } from './checker.ts'
import { GatewayProcess } from './gateway-process.ts'
import { History } from './history.ts'
import { holdingsOf } from './holding.ts'
import type { Order } from './order.ts'
import { readJournal } from './provider/journal.ts'
import { type Provider, startProvider } from './provider.ts'
import { FaultProxy } from './proxy.ts'
import { resetPeer } from './toxics.ts'

/** A real gateway between recorded clients and a provider that keeps a journal, a bad network before the provider. */
describe('the rig as a whole', () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-rig-'))
  const journal = join(directory, 'journal')
  let provider: Provider
  let proxy: FaultProxy
  let gateway: GatewayProcess
  const history = new History()
  const acme = history.client('acme', 'acme-key', 'A')
  const globex = history.client('globex', 'globex-key', 'B')

  beforeAll(async () => {
    provider = await startProvider({ form: 'B', name: 'alpha', keys: ['acme-key', 'globex-key'], journal })
    proxy = await FaultProxy.start(provider.url)
    gateway = await GatewayProcess.start({ directory, mode: 'passthrough', providers: { alpha: { form: 'B', url: proxy.url } } })
  })
  afterAll(async () => {
    await gateway[Symbol.asyncDispose]()
    await proxy[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    rmSync(directory, { recursive: true })
  })

  let number = 0
  const order = (): Order => ({
    from: assets.xrp,
    to: assets.usdtEth,
    amount: `1.${++number}`,
    withdrawalAddress: `0xWithdraw${number}`,
    refundAddress: `rRefund${number}`,
    rateType: 'float',
  })
  const found = async (): Promise<readonly string[]> => {
    const holdings = await holdingsOf(history, gateway.url, [acme, globex])
    const secrets = { clientKeys: [], providerKeys: {}, logs: [gateway.output] }
    return violations({
      journals: { alpha: readJournal(journal) },
      operations: history.operations,
      holdings,
      unresolvedAddresses: [],
      secrets,
    })
  }

  it('finds nothing wrong with creates and reads in both forms', async () => {
    for (const customer of [acme, globex, acme]) await customer.create(gateway.url, order())
    expect(await found()).toEqual([])
    const tally = Object.groupBy(history.operations, ({ client, kind, outcome }) => `${client} ${kind} ${outcome}`)
    expect(Object.fromEntries(Object.entries(tally).map(([what, { length } = []]) => [what, length]))).toEqual({
      'acme create ok': 2,
      'acme list ok': 1,
      'acme get ok': 2,
      'acme get fail': 1,
      'globex create ok': 1,
      'globex list ok': 1,
      'globex get ok': 1,
      'globex get fail': 2,
    })
  })

  it('records a create that took effect without a response', async () => {
    const lift = proxy.add(resetPeer(), 'downstream')
    expect((await acme.create(gateway.url, order()))?.status).toBe(504)
    lift()
    expect(history.operations.at(-1)).toMatchObject({ outcome: 'info', transactions: [] })
    expect(await found()).toEqual([])
  })

  it('kills the gateway, and starts it again on the same ports', async () => {
    await provider.fault({ after: 'hang' })
    const creating = acme.create(gateway.url, order())
    await expect.poll(() => readJournal(journal).findLast(({ what }) => what === 'responded')).toMatchObject({ ending: 'hang' })
    await gateway.kill()
    expect(await creating).toBeUndefined()
    expect(await acme.list(gateway.url)).toBeUndefined()
    await gateway.start()
    expect(await found()).toEqual([])
  })

  it('lets it stand still, and go on', async () => {
    gateway.freeze()
    const listed = acme.list(gateway.url)
    expect(await Promise.race([listed, new Promise((resolve) => setTimeout(resolve, 50, 'nothing'))])).toBe('nothing')
    gateway.thaw()
    expect((await listed)?.status).toBe(200)
  })

  it('ends it as an operator does', async () => {
    await gateway.stop()
    await gateway.start()
    expect((await acme.list(gateway.url))?.status).toBe(200)
  })

  it('reports why it did not start', async () => {
    const settings = { directory, mode: 'passthrough', providers: {} } as const
    await expect(GatewayProcess.start(settings)).rejects.toThrow('routing.providers')
  })
})
