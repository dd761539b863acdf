/** A client form and a provider form with the gateway between them. */
import { type ReceivedResponse, type RequestOptions, sendRequest } from './client.ts'
import { type ProviderA, startFormA } from './form-a.ts'
import { type ProviderB, startFormB } from './form-b.ts'
import { clientKey, type GatewaySettings, type StartedGateway, startGateway } from './gateway.ts'
import { openApiViolation } from './openapi-check.ts'
import type { AssetWords } from './swaps.ts'
import { Witness } from './witness.ts'

export type FormName = 'A' | 'B'

export const formNames: readonly FormName[] = ['A', 'B']

export const pairs: readonly { readonly client: FormName; readonly provider: FormName }[] = formNames.flatMap((client) =>
  formNames.map((provider) => ({ client, provider })),
)

interface Options {
  readonly headers?: Readonly<Record<string, string>>
  /** Null: without a key. */
  readonly key?: string | null
  readonly method?: string
}

export interface Client {
  readonly form: FormName
  /** `path` begins below `/api/v2`. */
  readonly get: (path: string, options?: Options) => Promise<ReceivedResponse>
  readonly post: (path: string, body: unknown, options?: Options) => Promise<ReceivedResponse>
}

const canary = 'canary-client-key'

/**
 * A client of the form, at the mount of the form. No response may ever have a key, or violate its description. The witness
 * records all of it.
 */
export function client(form: FormName, url: string, witness?: Witness): Client {
  const headersOf = ({ headers = {}, key = clientKey }: Options): Record<string, string> => ({
    ...(key !== null && credential(form, key)),
    ...headers,
  })
  const mount = `/${form.toLowerCase()}/api/v2`
  const checked = async (requestOptions: RequestOptions): Promise<ReceivedResponse> => {
    const response = await (witness ? witness.sendRequest(url, requestOptions) : sendRequest(url, requestOptions))
    if (JSON.stringify([response.text, response.headers]).includes(canary)) throw new Error(`a key came back: ${response.text}`)
    const fault = openApiViolation(form, requestOptions.method ?? 'GET', requestOptions.path.slice(mount.length), response)
    if (fault !== undefined) throw new Error(`not as described: ${fault}`)
    return response
  }
  return {
    form,
    get: (path, options = {}) => checked({ method: options.method ?? 'GET', path: mount + path, headers: headersOf(options) }),
    post: (path, body, options = {}) =>
      checked({
        method: options.method ?? 'POST',
        path: mount + path,
        headers: { 'content-type': 'application/json', ...headersOf(options) },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
  }
}

export function credential(form: FormName, key: string): Record<string, string> {
  return form === 'A' ? { authorization: `Bearer ${key}` } : { 'x-api-key': key }
}

export interface Pair {
  readonly client: Client
  readonly provider: ProviderA | ProviderB
  readonly gateway: StartedGateway
  readonly witness: Witness
  readonly close: () => Promise<void>
}

export type PairSettings = Omit<GatewaySettings, 'provider'> & {
  readonly provider?: Readonly<Record<string, unknown>>
  /** What the witness cannot judge, and why. */
  readonly unjudged?: Readonly<Record<string, string>>
}

/** These tests set the provider's words themselves, and check the result themselves. */
const words = 'The checker compares words only within one form.'
const without = { I4: words, I5: words }

export async function startPair(clientForm: FormName, providerForm: FormName, settings: PairSettings = {}): Promise<Pair> {
  const provider = providerForm === 'A' ? await startFormA() : await startFormB()
  const facts = { form: providerForm, url: provider.url, ...settings.provider }
  const { name = 'alpha', tag = name } = facts as { name?: string; tag?: string }
  const witness = new Witness({ providers: { [tag]: provider }, without: { ...without, ...settings.unjudged } })
  const gateway = witness.over(await startGateway({ ...settings, provider: facts }))
  return {
    client: client(clientForm, gateway.url, witness),
    provider,
    gateway,
    witness,
    async close() {
      await witness.close()
      await gateway.close()
      await provider.close()
    },
  }
}

export interface Wanted {
  readonly from: AssetWords
  readonly to: AssetWords
  readonly amount: string
  readonly rateType?: string
}

/** The path and query of a rate request in the words of the form. */
export function rateQuery(form: FormName, { from, to, amount, rateType }: Wanted): string {
  const query = new URLSearchParams(
    form === 'A'
      ? { coinFrom: from.code, coinTo: to.code, amount }
      : { coinFrom: from.coin, coinTo: to.coin, amount, networkFrom: from.network, networkTo: to.network },
  )
  if (rateType !== undefined) query.set('rateType', rateType)
  return `/rate?${query}`
}

/** The names of the two assets of a create in the words of the form. */
export function pairWords(form: FormName, from: AssetWords, to: AssetWords): Record<string, string> {
  return form === 'A'
    ? { coinFrom: from.code, coinTo: to.code }
    : { coinFrom: from.coin, coinTo: to.coin, networkFrom: from.network, networkTo: to.network }
}
