/** A gateway with issued keys before a provider whose native lane is open, and a client that records every byte of a response. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { type GatewaySettings, type StartedGateway, startGateway } from '../support/gateway.ts'
import { credential, type FormName } from '../support/pair.ts'
import { checkReason } from '../support/reason.ts'
import { type NativeProvider, startNativeProvider } from './provider.ts'

export const providerKey = 'provider-key-alpha'

/** Open paths, unless a test has others. */
export const open = [
  'GET /exchange/range',
  'HEAD /exchange/range',
  'GET /coins/{}/networks',
  'POST /estimates',
  'PUT /alerts/{}',
  'PATCH /alerts/{}',
  'DELETE /alerts/{}',
]

export interface NativeResponse {
  readonly status: number
  readonly reason: string
  readonly headers: IncomingHttpHeaders
  /** In lower case, one for each line. */
  readonly headerNames: readonly string[]
  readonly body: Buffer
  readonly trailers: NodeJS.Dict<string>
  /** How often interim responses came. */
  readonly interim: number
  /** Whether the connection was cut in the middle of the response. */
  readonly isCut: boolean
}

export interface Sent {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string | readonly string[]>>
  readonly body?: string | Uint8Array
  /** In Form A unless given; null: without a key. */
  readonly key?: string | null
  readonly form?: FormName
}

export interface NativeRig extends AsyncDisposable {
  readonly gateway: StartedGateway
  readonly provider: NativeProvider
  readonly key: string
  /** `path` begins behind `/native/alpha`. */
  readonly send: (path: string, sent?: Sent) => Promise<NativeResponse>
  /** The head of a raw request with the key, up to the empty line. */
  readonly head: (line: string, ...headers: readonly string[]) => string
}

export interface RigSettings extends Partial<Omit<GatewaySettings, 'provider'>> {
  readonly facts?: Readonly<Record<string, unknown>>
  /** One of the test's own, which closes it. */
  readonly provider?: NativeProvider
}

export async function startRig({ facts, sections, provider: own, ...settings }: RigSettings = {}): Promise<NativeRig> {
  const provider = own ?? (await startNativeProvider())
  const gateway = await startGateway({
    ...settings,
    provider: { form: 'A', url: provider.url, key: providerKey, native: open, ...facts },
    sections: { auth: { mode: 'managed' }, ...sections },
  })
  const key = gateway.config.auth.mode === 'managed' ? await gateway.issueKey('acme') : 'canary-client-key-1'
  const agent = new Agent({ keepAlive: true })
  const close = async (): Promise<void> => {
    agent.destroy()
    await gateway.close()
    if (!own) await provider.close()
  }
  return {
    gateway,
    provider,
    key,
    send: (path, sent = {}) => sendTo(`${gateway.url}/native/alpha${path}`, { key, ...sent }, agent),
    head: (line, ...headers) =>
      [`${line} HTTP/1.1`, 'host: gateway', `authorization: Bearer ${key}`, ...headers, '\r\n'].join('\r\n'),
    [Symbol.asyncDispose]: close,
  }
}

/** Throws where no response came. What has the gateway's own form must have a reason, and no response may hold a key. */
export async function sendTo(
  url: string,
  { method = 'GET', headers = {}, body, key, form = 'A' }: Sent,
  agent?: Agent,
): Promise<NativeResponse> {
  const { port, pathname, search } = new URL(url)
  const withKey = key == null ? {} : credential(form, key)
  const response = await new Promise<NativeResponse>((resolve, reject) => {
    let interim = 0
    const length = body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request({
      ...(agent && { agent }),
      port,
      method,
      path: pathname + search,
      headers: { ...length, ...withKey, ...headers } as Record<string, string>,
    })
    sent.on('information', () => interim++)
    sent.on('error', reject)
    sent.on('response', (response) => {
      const chunks: Buffer[] = []
      const finish = (isCut: boolean): void =>
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          headers: response.headers,
          headerNames: response.rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()),
          body: Buffer.concat(chunks),
          trailers: response.trailers,
          interim,
          isCut,
        })
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', () => finish(true))
      response.on('end', () => finish(false))
    })
    sent.end(body)
  })
  if (response.headers['x-swap-form'] !== undefined) checkReason(response.status, response.headers, url)
  const received = `${JSON.stringify(response.headers)}${response.body.toString('latin1')}`
  if (received.includes(providerKey) || (key != null && received.includes(key))) throw new Error('a key came back')
  return response
}

/** The parts of an error of the gateway that the tests compare. */
export function errorFacts({ status, headers, body }: NativeResponse): unknown {
  return [status, headers['x-swap-reason'], headers['x-swap-form'], Object.keys(JSON.parse(String(body) || '{}'))]
}

const words = { A: ['error', 'message', 'code'], B: ['message', 'code'] }

/** An error of the form, as `errorFacts` returns it. */
export function refusal(status: number, reason: string, form: FormName = 'A'): unknown {
  return [status, reason, form, words[form]]
}
