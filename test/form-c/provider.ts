/** A provider that has one response for each path, over real HTTP. */
import { createServer, type IncomingHttpHeaders, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { documents, type Facts, type FormName } from './documents.ts'
import { type Name, requests } from './requests.ts'

export interface ReceivedRequest {
  readonly name: Name
  readonly query: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export interface Provider {
  readonly url: string
  readonly received: readonly ReceivedRequest[]
  readonly close: () => Promise<void>
}

const base = '/api/v2'

export async function startProvider(form: FormName, facts: Facts): Promise<Provider> {
  const received: ReceivedRequest[] = []
  const names = namesOf(form)
  const server = createServer(async (request, response) => {
    const { pathname, search } = new URL(request.url ?? '', 'http://provider')
    const name = names.get(`${request.method} ${pathname}`)
    if (name === undefined) return response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
    received.push({ name, query: search.slice(1), headers: request.headers, body: await readBody(request) })
    const responses = documents[form]({ ...facts, of: pathname.slice(-3) })
    return response.writeHead(200, { 'content-type': 'application/json' }).end(responses[name])
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async (): Promise<void> => {
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${port}${base}`, received, close }
}

/** The operation by method and path; both transactions of the list can be read. */
function namesOf(form: FormName): ReadonlyMap<string, Name> {
  const expected = ['tx6', 'tx7'].flatMap((id) => Object.entries(requests[form](id)))
  return new Map(expected.map(([name, { method, path }]) => [`${method} ${base}${path}`, name as Name]))
}

async function readBody(request: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  return text
}
