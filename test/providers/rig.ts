/** A gateway before the stand-in of a real provider, and clients of both forms; the asset table is the one that is shipped. */
import type { Drift } from '../../src/domain/observation.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { clientKey, type GatewaySettings, type StartedGateway, startGateway } from '../support/gateway.ts'
import { digits } from '../support/json.ts'
import { client, type FormName, pairWords, rateQuery } from '../support/pair.ts'
import type { AssetWords } from '../support/swaps.ts'
import { configured, type Documented, documented, type ProviderName } from './documented.ts'
import { type RunningExchange, startExchange } from './stand-ins/exchange.ts'

export interface Rig extends AsyncDisposable {
  readonly facts: Documented
  readonly exchange: RunningExchange
  readonly gateway: StartedGateway
  readonly quote: (form: FormName, facts?: QuoteFacts) => Promise<ReceivedResponse>
  readonly create: (form: FormName, facts?: CreateFacts) => Promise<ReceivedResponse>
  readonly get: (form: FormName, path: string) => Promise<ReceivedResponse>
  /** Reads the configuration again with these in place of those at the start. */
  readonly edit: (next: FileEdit) => void
  /** Drift from the provider's form, as `field kind name`. */
  readonly drift: () => readonly string[]
}

export interface QuoteFacts {
  readonly from?: AssetWords
  readonly to?: AssetWords
  readonly amount?: string
  /** To be received, in the place of the amount. */
  readonly amountTo?: string
  readonly rateType?: 'fixed' | 'float'
  /** Whether the quote is to be kept. */
  readonly firm?: boolean
}

export interface CreateFacts extends QuoteFacts {
  readonly idempotencyKey?: string
  /** Further fields of the body, or others in their place. */
  readonly body?: object
}

/** What of the configuration a test writes. */
interface FileEdit {
  /** Default: the one that is shipped. */
  readonly assetTable?: GatewaySettings['assetTable'] | undefined
  /** Further facts of the provider. */
  readonly provider?: object | undefined
}

type RigSettings = Partial<Omit<GatewaySettings, 'provider' | 'assetTable'>> &
  FileEdit & {
    readonly mode?: 'managed' | 'passthrough'
  }

/** Assets of the shipped table that every provider here has. */
export const assets = {
  btc: { code: 'BTC', coin: 'BTC', network: 'BTC' },
  eth: { code: 'ETH', coin: 'ETH', network: 'ETH' },
  usdtEth: { code: 'USDTERC20', coin: 'USDT', network: 'ETH' },
  usdtTrx: { code: 'USDTTRC20', coin: 'USDT', network: 'TRX' },
  xrp: { code: 'XRP', coin: 'XRP', network: 'XRP' },
} as const satisfies Record<string, AssetWords>

export const addresses = {
  ETH: '0x00D283fFCb70F7b9A1d844e54A1AdE61E5443B6C',
  TRX: 'TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE',
  BTC: 'bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq',
  XRP: 'rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh',
} as const

/** Of the client, as the proxy in front of the gateway reports it. */
export const clientAddress = '8.8.8.8'

export const createdStatus = { A: 201, B: 200 } as const

export async function startRig(
  name: ProviderName,
  { provider, assetTable, mode = 'managed', ...settings }: RigSettings = {},
): Promise<Rig> {
  const facts: Documented = documented[name]
  const exchange = await startExchange(facts.dialect)
  exchange.key = facts.key
  const own = { name: 'alpha', form: name, url: exchange.url, ...configured(facts), extraIds: true }
  const { sections, ...others } = settings
  const file = ({ assetTable, provider }: FileEdit) => ({
    ...(assetTable && { assetTable }),
    provider: { ...own, ...provider },
    // Its list is read once and each get anew, so that the calls of a test are its own.
    sections: {
      ...(!assetTable && { assets: 'config/assets.yaml' }),
      server: { trustProxy: 1 },
      auth: { mode },
      cache: { currencies: 600, rate: 0, staleFor: 0 },
      ledger: { refreshAfter: 0 },
      ...sections,
    },
  })
  const gateway = await startGateway({ ...others, ...file({ assetTable, provider }) })
  exchange.otherKeys.add(clientKey) // in passthrough mode a client has an account of its own there
  const key = mode === 'managed' ? await gateway.issueKey('acme') : undefined
  const headers = { 'x-forwarded-for': clientAddress }
  const options = { headers, ...(key !== undefined && { key }) }
  const standard = facts.rateTypes.includes('float') ? undefined : 'fixed'
  return {
    facts,
    exchange,
    gateway,
    quote: (form, { from = assets.eth, to = assets.usdtEth, amount = '0.1', amountTo, rateType = standard, firm } = {}) => {
      const query = rateQuery(form, { from, to, amount, ...(rateType && { rateType }) })
      const asked = amountTo === undefined ? query : query.replace(`amount=${amount}`, `amountTo=${amountTo}`)
      return client(form, gateway.url).get(asked + (firm ? '&quoteId=true' : ''), options)
    },
    create: (
      form,
      { from = assets.eth, to = assets.usdtEth, amount = '0.1', amountTo, rateType = standard, idempotencyKey, body } = {},
    ) =>
      client(form, gateway.url).post(
        '/transactions',
        {
          ...pairWords(form, from, to),
          ...(amountTo === undefined ? { amount: Number(amount) } : { amountTo: digits(amountTo) }),
          withdrawalAddress: addresses[to.network as keyof typeof addresses],
          refundAddress: addresses[from.network as keyof typeof addresses],
          ...(rateType && { rateType }),
          ...body,
        },
        { ...options, headers: { ...headers, ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }) } },
      ),
    get: (form, path) => client(form, gateway.url).get(path, options),
    edit: (next) => gateway.reconfigure(file(next)),
    drift: () =>
      gateway.observations
        .filter((observation): observation is Extract<typeof observation, { what: 'drift' }> => observation.what === 'drift')
        .map(
          ({ field, drift, name: unknown = '' }: { field: string; drift: Drift; name?: string }) => `${field} ${drift} ${unknown}`,
        ),
    async [Symbol.asyncDispose]() {
      await gateway.close()
      await exchange.end()
    },
  }
}
