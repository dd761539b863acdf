// Takes long: gateways are killed repeatedly.
/** docs/contract.md §10.7: over two processes on one ledger, each killed at any instant, a firm quote is sent once. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { GatewayProcess } from '../checker/gateway-process.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { rateA, startFormA } from '../support/form-a.ts'
import { credential, rateQuery } from '../support/pair.ts'
import { type Postgres, startPostgres } from '../support/postgres.ts'
import { assets } from '../support/swaps.ts'

let postgres: Postgres
beforeAll(async () => {
  postgres = await startPostgres()
})
afterAll(() => postgres.close())

const rounds = 6
const createsOfRound = 10

describe.each(['PostgreSQL', 'SQLite'])('%s', (store) => {
  it('creates with one quote at two processes, which are killed meanwhile: each quote is sent once at most', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-firm-'))
    const provider = await startFormA()
    let quotes = 0
    provider.reply('rate', ({ query }) => ({
      json: { ...rateA(query), quoteId: `own-${++quotes}`, validUntil: new Date(Date.now() + 600_000).toISOString() },
    }))
    const ledger = store === 'PostgreSQL' ? await postgres.createLedger() : `sqlite:${join(directory, 'ledger.db')}`
    const settings = {
      directory,
      ledger,
      mode: 'managed' as const,
      providers: { alpha: { form: 'A', url: provider.url, key: 'own-key', timeout: 4 } as const },
    }
    await using first = await GatewayProcess.start(settings)
    await using second = await GatewayProcess.start(settings)
    const gateways = [first, second] as const
    const headers = { ...credential('A', await first.createKey('acme')), 'content-type': 'application/json' }
    const send = (at: number, request: Omit<Parameters<typeof sendRequest>[1], 'headers'>): Promise<ReceivedResponse | undefined> =>
      sendRequest(gateways[at % 2]?.url ?? '', { ...request, headers }).catch(() => undefined)
    const terms = { from: assets.btc, to: assets.usdtTrx, amount: '0.1', rateType: 'fixed' } as const
    const used = new Set<string>()
    for (let round = 0; round < rounds; round++) {
      const quoted = await send(round, { path: `/a/api/v2${rateQuery('A', terms)}&quoteId=true` })
      const { quoteId } = JSON.parse(quoted?.text ?? '{}')
      const body = (at: number) =>
        JSON.stringify({
          ...{ coinFrom: 'BTC', coinTo: 'USDTTRC20', amount: 0.1, rateType: 'fixed', quoteId },
          withdrawalAddress: `TWithdraw${round}x${at}`,
        })
      const create = (at: number) => send(at, { method: 'POST', path: '/a/api/v2/transactions', body: body(at) })
      const creating = Array.from({ length: createsOfRound }, (_, at) => create(at))
      const victim = gateways[round % 2]
      await new Promise((resolve) => setTimeout(resolve, round * 3))
      await victim?.kill()
      const before = await Promise.all(creating)
      await victim?.start()
      const after = await Promise.all(Array.from({ length: createsOfRound }, (_, at) => create(at)))
      const made = [...before, ...after].filter((response) => response?.status === 201)
      expect(made.length).toBeLessThanOrEqual(1)
      for (const response of after) expect([201, 409]).toContain(response?.status)
      used.add(quoteId)
    }
    const sent = provider.received('create').map((received) => (JSON.parse(received.body) as { quoteId: string }).quoteId)
    expect(sent).toEqual([...new Set(sent)])
    expect(sent.length).toBeGreaterThan(0)
    expect(used.size).toBe(rounds)
    await provider.close()
    rmSync(directory, { recursive: true })
  }, 180_000)
})
