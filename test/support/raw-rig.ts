/** A provider of raw bytes with a gateway in front, and what a client must get for a malformed response. */
import type { Socket } from 'node:net'
import { expect } from 'vitest'
import { afterEachTest } from './after-tests.ts'
import type { ReceivedResponse } from './client.ts'
import { expectAlive, expectRefusal } from './expectations.ts'
import { transactionA } from './form-a.ts'
import { type StartedGateway, startGateway } from './gateway.ts'
import { type Client, client, type FormName, pairWords } from './pair.ts'
import { providerAssets } from './provider-assets.ts'
import { type RawProvider, rawResponse, startRawProvider } from './raw.ts'
import { assets, swap } from './swaps.ts'

export interface Rig {
  readonly client: Client
  readonly provider: RawProvider
  readonly gateway: StartedGateway
}

const running: Rig[] = []
const currencies = rawResponse('{"data":[],"pagination":{"page":1,"size":100,"total":0},"count":0}')

interface RigFacts {
  /** Of the provider; A unless given. */
  readonly form?: FormName
  /** Of the gateway with the provider, in seconds; long enough for a busy machine unless given. */
  readonly timeout?: number
}

/** Seconds, where the end of the time is what is looked at. */
export const shortly = 1

/** A provider of form A or B that responds so to everything but currencies. */
export async function rig(
  response: (socket: Socket, request: string) => void,
  { form = 'A', timeout = 4 }: RigFacts = {},
): Promise<Rig> {
  const provider = await startRawProvider((socket, request) =>
    request.includes('/currencies') ? void socket.write(currencies) : response(socket, request),
  )
  const gateway = await startGateway({
    provider: { form, url: provider.url, timeout, ...(form === 'A' && { assets: providerAssets }) },
  })
  const made = { client: client('A', gateway.url), provider, gateway }
  running.push(made)
  return made
}

afterEachTest.add(async () => {
  for (const { client: caller, gateway, provider } of running.splice(0)) {
    await expectAlive(caller)
    await gateway.close()
    await provider.close()
  }
})

export const get = ({ client: caller }: Rig): Promise<ReceivedResponse> => caller.get('/transactions/alpha~tx-1')
const create = ({ client: caller }: Rig): Promise<ReceivedResponse> =>
  caller.post('/transactions', { ...pairWords('A', assets.btc, assets.usdtTrx), amount: 1, withdrawalAddress: 'w' })
export const whole = JSON.stringify(transactionA(swap()))

/**
 * A read fails with `status`; the outcome of a create is unknown, and it is sent once (docs/contract.md §10, for a row with
 * 502).
 */
export async function expectFailure(response: (socket: Socket, request: string) => void, status: 502 | 504): Promise<void> {
  const made = await rig(response, status === 504 ? { timeout: shortly } : {})
  const before = performance.now()
  const [read, created] = await Promise.all([get(made), create(made)])
  expectRefusal(read, 'A', status)
  expect(expectRefusal(created, 'A', 504)).toMatch(/outcome is unknown/i)
  expect(performance.now() - before).toBeLessThan(5_000)
  expect(made.provider.requests.filter((request) => request.startsWith('POST'))).toHaveLength(1)
}
