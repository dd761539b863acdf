/**
 * A wallet's published integrations, unmodified, at the stand-ins of the providers: so that a stand-in and the form that it tests
 * are not two copies of one mistake. And its Exolix integration at the gateway, before providers of other forms.
 */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Managed, startManaged } from '../support/managed.ts'
import { documented, type ProviderName, providerNames } from './documented.ts'
import { clientAddress, type Rig, startRig } from './rig.ts'
import { type RunningExchange, startExchange } from './stand-ins/exchange.ts'
import { affiliateId } from './stand-ins/letsexchange.ts'
import { accountId } from './stand-ins/sideshift.ts'
import { etherToExactTether, etherToTether, type SwapQuote, walletAddress, walletPlugin } from './wallet-plugins.ts'

const key = 'key-of-the-wallet'
/** Where the plugins believe the providers are; the rest of a URL is theirs. */
const origins = {
  exolix: { origin: 'https://exolix.com/api/v2', initOptions: { apiKey: key } },
  changenow: { origin: 'https://api.changenow.io/v2', initOptions: { apiKey: key } },
  letsexchange: { origin: 'https://api.letsexchange.io/api', initOptions: { apiKey: key, affiliateId } },
  sideshift: { origin: 'https://sideshift.ai/api/v2', initOptions: { privateKey: key, affiliateId: accountId } },
  changelly: { origin: 'https://api-relay.changelly.com', initOptions: { apiKey: key, partnerId: 'wallet' } },
} as const

const exchangeRates = { data: [{ currency_pair: 'ETH_iso:USD', date: '2026-07-29', exchangeRate: '2000' }] }

/** One plugin requests a price in dollars from a server of its wallet, with the global `fetch`. */
beforeAll(() => {
  const real = globalThis.fetch
  vi.stubGlobal('fetch', (target: string, options?: RequestInit) =>
    /^https:\/\/rates\d\.edge\.app\//.test(target) ? Promise.resolve(Response.json(exchangeRates)) : real(target, options),
  )
})
afterAll(() => {
  vi.unstubAllGlobals()
})

async function approved(quote: SwapQuote) {
  const { orderId, destinationAddress, transaction } = await quote.approve()
  const [target] = transaction.spendTargets
  return { orderId, destinationAddress, deposit: target?.publicAddress, memo: transaction.memos[0]?.value }
}

describe.each(Object.keys(origins) as (keyof typeof origins)[])('the plugin %s at the stand-in', (name) => {
  let exchange: RunningExchange
  beforeAll(async () => {
    exchange = await startExchange(documented[name].dialect)
    exchange.key = key
    exchange.isCalledByUsers = true
  })
  afterAll(() => exchange.end())
  const plugin = () => walletPlugin(name, { ...origins[name], url: exchange.url })

  it('orders what it quotes, and nothing that it sends is unknown', { timeout: 300_000 }, async () => {
    const quote = await plugin().fetchSwapQuote(etherToTether(0.1), undefined, {})
    const [swap, ...more] = exchange.swaps
    if (!swap) throw new Error('nothing was created')
    expect(more).toEqual([])
    expect(`${swap.from.coin} ${swap.from.network}`).toBe(documented[name].words.ETH)
    expect(`${swap.to.coin} ${swap.to.network}`).toBe(documented[name].words.USDTERC20)
    expect(swap).toMatchObject({ amountIn: 0.1, isFixed: true, withdrawal: walletAddress })
    expect(quote).toMatchObject({ fromNativeAmount: '100000000000000000', toNativeAmount: String(swap.amountOut * 1_000_000) })
    expect(await approved(quote)).toMatchObject({ orderId: swap.id, deposit: swap.deposit, destinationAddress: walletAddress })
    expect(exchange.calls.filter(({ refused }) => refused)).toEqual([])
  })

  it('understands a refusal below the minimum', async () => {
    const before = exchange.swaps.length
    await expect(plugin().fetchSwapQuote(etherToTether(0.001), undefined, {})).rejects.toMatchObject({
      name: 'SwapBelowLimitError',
      nativeMin: '2000000000000000',
    })
    expect(exchange.swaps).toHaveLength(before)
  })
})

describe('the plugin exolix at the gateway', () => {
  const { origin } = origins.exolix
  let rig: Rig | undefined
  let managed: Managed | undefined
  afterEach(async () => {
    await rig?.[Symbol.asyncDispose]()
    await managed?.close()
    rig = undefined
    managed = undefined
  })

  it.each(providerNames)('orders at %s', async (name) => {
    rig = await startRig(name)
    const apiKey = await rig.gateway.issueKey('wallet')
    const plugin = walletPlugin('exolix', {
      origin,
      url: `${rig.gateway.url}/exolix/api/v2`,
      initOptions: { apiKey },
      clientAddress,
    })
    const quote = await plugin.fetchSwapQuote(etherToTether(0.1), undefined, {})
    const [swap] = rig.exchange.swaps
    expect(swap).toMatchObject({ amountIn: 0.1, isFixed: true, withdrawal: walletAddress })
    if (documented[name].takesRefund) expect(swap).toMatchObject({ refund: walletAddress })
    const { orderId, deposit } = await approved(quote)
    expect([orderId, deposit]).toEqual([`alpha~${swap?.id}`, swap?.deposit])
    const received = (swap?.amountOut ?? 0) - documented[name].networkFee
    expect(quote.toNativeAmount).toBe(String(Math.round(received * 1_000_000)))
    await expect(plugin.fetchSwapQuote(etherToTether(0.001), undefined, {})).rejects.toMatchObject({
      name: 'SwapBelowLimitError',
      nativeMin: '2000000000000000',
    })
    expect(rig.exchange.swaps).toHaveLength(1)
  })

  const receives = async (name: ProviderName, amountTo: number): Promise<SwapQuote> => {
    rig = await startRig(name)
    rig.exchange.market.fixed = 12.5
    const initOptions = { apiKey: await rig.gateway.issueKey('wallet') }
    const plugin = walletPlugin('exolix', { origin, url: `${rig.gateway.url}/exolix/api/v2`, initOptions, clientAddress })
    return plugin.fetchSwapQuote(etherToExactTether(amountTo), undefined, {})
  }

  const fixedReceivers = providerNames.filter((name) => (documented[name].receivedRateTypes as readonly string[]).includes('fixed'))
  it.each(fixedReceivers)('orders an amount to receive at %s, which is asked for that and no other', async (name) => {
    const quote = await receives(name, 2.5)
    expect(quote.toNativeAmount).toBe('2500000')
    const [swap] = rig?.exchange.swaps ?? []
    expect(quote.fromNativeAmount).toBe(String(Math.round(Number(swap?.amountIn) * 1e9) * 1e9))
    expect(await approved(quote)).toMatchObject({ orderId: `alpha~${swap?.id}`, deposit: swap?.deposit })
    const asked = rig?.exchange.calls.flatMap(({ operation, received }) =>
      operation === 'quote' || operation === 'create' ? [received.body || String(received.query)] : [],
    )
    if (name !== 'exolix') return
    expect(asked).toHaveLength(2)
    for (const text of asked ?? []) {
      expect(text).toMatch(/withdrawalAmount\W+2\.5\b/)
      expect(text).not.toMatch(/\bamount\b/)
    }
  })

  it('an amount to receive below the minimum is refused with what Exolix says that it must be', async () => {
    await expect(receives('exolix', 0.0125)).rejects.toMatchObject({ name: 'SwapBelowLimitError', nativeMin: '25000' })
    expect(rig?.exchange.swaps).toEqual([])
  })

  it.each(['alpha', 'beta'] as const)('orders at a provider of the service, %s', async (name) => {
    managed = await startManaged({ routing: [name] })
    for (const invariant of ['I1', 'I2', 'I4', 'I6'] as const) managed.witness.excuse(invariant, 'A client of another form.')
    const apiKey = await managed.issue()
    const plugin = walletPlugin('exolix', { origin, url: `${managed.gateway.url}/exolix/api/v2`, initOptions: { apiKey } })
    const quote = await plugin.fetchSwapQuote(etherToTether(0.1), undefined, {})
    const [swap] = managed[name].holdings.swaps
    expect(swap).toMatchObject({ from: { coin: 'ETH' }, to: { coin: 'USDT', network: 'ETH' }, withdrawalAddress: walletAddress })
    expect(await approved(quote)).toMatchObject({ orderId: `${name}~${swap?.id}`, deposit: swap?.depositAddress })
  })
})
