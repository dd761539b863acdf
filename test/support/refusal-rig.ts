/** A pair of one form on both sides, for requests that are refused before a call. */
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type ReceivedResponse, sendRequest } from './client.ts'
import { expectAlive, expectRefusal } from './expectations.ts'
import { clientKey } from './gateway.ts'
import { credential, type FormName, type Pair, pairWords, startPair } from './pair.ts'
import { assets, swap } from './swaps.ts'

export interface RefusalRig {
  readonly pair: Pair
  /** The parameters of a valid rate request. */
  readonly request: Readonly<Record<string, string>>
  readonly order: (facts?: object) => Record<string, unknown>
  readonly create: (body: unknown, headers?: Record<string, string>) => Promise<ReceivedResponse>
  /** A create of these bytes. */
  readonly bytes: (body: Uint8Array, headers?: Record<string, string>) => Promise<ReceivedResponse>
  /** Refused without a call. Returns the message. */
  readonly expectRefused: (response: ReceivedResponse, status?: number) => string
}

/** To be called in `describe`. After each test the gateway is alive and no prototype is polluted. */
export function refusalRig(form: FormName): RefusalRig {
  let pair: Pair
  beforeAll(async () => {
    pair = await startPair(form, form)
  })
  beforeEach(() => {
    pair.provider.reset()
    pair.provider.holdings.swaps = [swap()]
  })
  afterEach(async () => {
    await expectAlive(pair.client)
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined()
  })
  afterAll(() => pair.close())
  const words = pairWords(form, assets.btc, assets.usdtTrx)
  const json = { 'content-type': 'application/json' }
  return {
    get pair() {
      return pair
    },
    request: { ...words, amount: '1', rateType: 'fixed' },
    order: (facts = {}) => ({ ...words, amount: 1, withdrawalAddress: 'TWithdraw1', ...facts }),
    create: (body, headers = {}) => pair.client.post('/transactions', body, { headers }),
    bytes(body, headers = {}) {
      const path = `/${form.toLowerCase()}/api/v2/transactions`
      return sendRequest(pair.gateway.url, {
        method: 'POST',
        path,
        headers: { ...credential(form, clientKey), ...json, ...headers },
        body,
      })
    },
    expectRefused(response, status = 400) {
      const message = expectRefusal(response, form, status)
      expect(pair.provider.journal).toEqual([])
      return message
    },
  }
}
