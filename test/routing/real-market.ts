/** A gateway before the stand-ins of real providers, whose prices a test moves between a quote and its create. */
import type { Observation } from '../../src/domain/observation.ts'
import { randomOf } from '../chaos/random.ts'
import { configured, documented, type ProviderName, providerNames } from '../providers/documented.ts'
import { addresses, assets, clientAddress } from '../providers/rig.ts'
import { type RunningExchange, startExchange } from '../providers/stand-ins/exchange.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { client, pairWords, rateQuery } from '../support/pair.ts'

export interface MarketOrder {
  readonly rateType: 'fixed' | 'float'
  /** Of ETH. */
  readonly amount?: string
  /** Of USDT, in place of the amount. */
  readonly amountTo?: string
}

export interface Made {
  readonly status: number
  readonly provider: unknown
  readonly reason: unknown
  readonly text: string
}

export interface RealMarket extends AsyncDisposable {
  readonly gateway: StartedGateway
  readonly exchanges: ReadonlyMap<ProviderName, RunningExchange>
  readonly exchange: (name: ProviderName) => RunningExchange
  /** Reads the configuration again with this routing. */
  readonly route: (routing: object) => void
  readonly quote: (order: MarketOrder, account?: string) => Promise<Made>
  readonly create: (order: MarketOrder, account?: string) => Promise<Made>
  /** Orders that were made, at all of them. */
  readonly orders: () => number
}

/** `routing`: beside the providers, which are all of `names` in their order unless it has others. */
export async function startRealMarket(names: readonly ProviderName[], routing: object): Promise<RealMarket> {
  const exchanges = new Map<ProviderName, RunningExchange>()
  // Far from each other, so that none gives a deposit address of another.
  for (const [at, name] of names.entries()) {
    const { dialect, key } = documented[name]
    const exchange = await startExchange(dialect, at * 1_000_000)
    exchange.key = key
    exchanges.set(name, exchange)
  }
  const providers = names.map((name) => {
    const facts = { form: name, url: exchanges.get(name)?.url, ...configured(documented[name]), extraIds: true }
    return [name, facts] as const
  })
  const [first, ...others] = providers
  const settings = (own: object) => ({
    provider: { name: first?.[0] ?? '', ...first?.[1] },
    others: Object.fromEntries(others),
    sections: {
      assets: 'config/assets.yaml',
      server: { trustProxy: 1 },
      auth: { mode: 'managed' },
      cache: { currencies: 600, rate: 0, staleFor: 0 },
      routing: { providers: names, ...own },
    },
  })
  const gateway = await startGateway(settings(routing))
  const keys = new Map<string, string>()
  const keyOf = async (account: string): Promise<string> => {
    const key = keys.get(account) ?? (await gateway.issueKey(account))
    keys.set(account, key)
    return key
  }
  const { eth, usdtEth } = assets
  const headers = { 'x-forwarded-for': clientAddress }
  return {
    gateway,
    exchanges,
    exchange(name) {
      const exchange = exchanges.get(name)
      if (!exchange) throw new Error(`no ${name} here`)
      return exchange
    },
    route: (own) => gateway.reconfigure(settings(own)),
    async quote({ rateType, amount = '1', amountTo }, account = 'acme') {
      const query = rateQuery('A', { from: eth, to: usdtEth, amount, rateType })
      const asked = amountTo === undefined ? query : query.replace(`amount=${amount}`, `amountTo=${amountTo}`)
      return made(await client('A', gateway.url).get(asked, { headers, key: await keyOf(account) }))
    },
    async create({ rateType, amount = '1', amountTo }, account = 'acme') {
      const body = {
        ...pairWords('A', eth, usdtEth),
        ...(amountTo === undefined ? { amount: digits(amount) } : { amountTo: digits(amountTo) }),
        ...{ withdrawalAddress: addresses.ETH, refundAddress: addresses.ETH, rateType },
      }
      return made(await client('A', gateway.url).post('/transactions', body, { headers, key: await keyOf(account) }))
    },
    orders: () => [...exchanges.values()].reduce((sum, { swaps }) => sum + swaps.length, 0),
    async [Symbol.asyncDispose]() {
      await gateway.close()
      for (const exchange of exchanges.values()) await exchange.end()
    },
  }
}

function made({ status, headers, text }: ReceivedResponse): Made {
  return { status, provider: headers['x-swap-provider'], reason: headers['x-swap-reason'], text }
}

/** Of a price within a minute. */
const largestMove = 0.005

/** Sets the price of each, both types of rate alike. */
export function setPrices({ exchanges }: RealMarket, priceOf: (last: number) => number): void {
  for (const { market } of exchanges.values()) {
    market.fixed = priceOf(market.fixed)
    market.float = market.fixed
  }
}

/** Mismatches and suspensions. */
export function accusations({ gateway }: RealMarket): readonly Observation[] {
  return gateway.observations.filter(
    (one) =>
      one.what === 'suspended' ||
      (one.what === 'create' && one.outcome === 'contradicted') ||
      (one.what === 'judgement' && one.outcome === 'refused'),
  )
}

/** Creates at all real forms, each a minute after its quote. Throws where one is not taken. `found`: what was held against a provider. */
export async function tradeHonestly(
  strategy: 'best' | 'priority',
  creates: number,
): Promise<{ readonly found: readonly Observation[]; readonly providers: readonly unknown[] }> {
  const seed = Date.now() % 2 ** 31
  const random = randomOf(seed)
  const moved = (price: number): number => price * (1 + largestMove * (2 * random() - 1))
  await using market = await startRealMarket(providerNames, { strategy })
  const providers = new Set<unknown>()
  const turnLength = Math.ceil(creates / providerNames.length)
  for (let at = 0; at < creates; at++) {
    // Each provider is the first of the list in its turn.
    const first = Math.floor(at / turnLength)
    if (strategy === 'priority' && at % turnLength === 0)
      market.route({ strategy, providers: [...providerNames.slice(first), ...providerNames.slice(0, first)] })
    const order: MarketOrder = {
      rateType: random() < 0.7 ? 'fixed' : 'float',
      ...(random() < 0.25 ? { amountTo: (10 + 5 * random()).toFixed(4) } : { amount: (0.5 + random()).toFixed(4) }),
    }
    const account = `account-${at % 4}`
    setPrices(market, () => moved(16))
    const quoted = await market.quote(order, account)
    setPrices(market, moved)
    const { status, text, provider } = await market.create(order, account)
    if (quoted.status !== 200 || status !== 201)
      throw new Error(`seed ${seed}, ${strategy}: ${JSON.stringify(order)} was not taken: ${quoted.text} ${text}`)
    providers.add(provider)
  }
  return { found: accusations(market), providers: [...providers] }
}
