/** An integrator's client: sends path and headers unchanged, and reads the whole response. */
import { Agent, type IncomingHttpHeaders, request } from 'node:http'
import { readJson } from './json.ts'
import { recordOutput } from './leak-check.ts'
import { checkReason } from './reason.ts'

export interface RequestOptions {
  readonly method?: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array
}

export interface ReceivedResponse {
  readonly status: number
  /** The words behind the status. */
  readonly reason: string
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** With numbers by their lexemes; undefined where there is no body. */
  readonly json: unknown
}

const agent = new Agent({ keepAlive: true })

/** Closes idle connections: a gateway with short timeouts may close one just as the next request is sent. */
export function hangUp(): void {
  agent.destroy()
}

export async function sendRequest(
  url: string,
  { method = 'GET', path, headers = {}, body }: RequestOptions,
): Promise<ReceivedResponse> {
  const { hostname, port } = new URL(url)
  const received = await new Promise<ReceivedResponse>((resolve, reject) => {
    const length = body === undefined || 'transfer-encoding' in headers ? {} : { 'content-length': String(Buffer.byteLength(body)) }
    const sent = request({ agent, hostname, port, method, path, headers: { ...length, ...headers } }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', reject)
      response.on('end', () => {
        if (Number(response.statusCode) >= 400) recordOutput('error', `${text}\n`)
        resolve({
          status: response.statusCode ?? 0,
          reason: response.statusMessage ?? '',
          headers: response.headers,
          text,
          json: text === '' ? undefined : readJson(text),
        })
      })
    })
    sent.on('error', reject)
    sent.end(body)
  })
  checkReason(received.status, received.headers, `${method} ${path}`)
  return received
}
