/** What public HTTP clients send when they are used as their users use them (docs/contract.md §3.11, §18.2). */
import { execFile, spawnSync } from 'node:child_process'
import { promisify } from 'node:util'
import axios from 'axios'
import got from 'got'
import ky from 'ky'
import { request } from 'undici'
import { afterEach, describe, expect, test } from 'vitest'
import { type ActionRig, refundAddress, startActions } from '../actions/rig.ts'
import { hasPython } from './drivers.ts'

interface Seen {
  readonly status: number
  readonly contentType: string | undefined
  readonly text: string
}

type Headers = Readonly<Record<string, string>>

interface HttpClient {
  readonly head: (url: string, headers: Headers) => Promise<Seen>
  /** In the client's own ways to post nothing. */
  readonly postNothing: Readonly<Record<string, (url: string, headers: Headers) => Promise<Seen>>>
  readonly postJson: (url: string, headers: Headers, body: object) => Promise<Seen>
}

const run = promisify(execFile)

const ofResponse = async (response: Response): Promise<Seen> => ({
  status: response.status,
  contentType: response.headers.get('content-type') ?? undefined,
  text: await response.text(),
})

async function ofUndici({ statusCode, headers, body }: Awaited<ReturnType<typeof request>>): Promise<Seen> {
  return { status: statusCode, contentType: headers['content-type'] as string, text: await body.text() }
}

interface AxiosResponse {
  readonly status: number
  readonly headers: unknown
  readonly data: string
}

const ofAxios = ({ status, headers, data }: AxiosResponse): Seen => ({
  status,
  contentType: (headers as Record<string, string>)['content-type'],
  text: data,
})

interface GotResponse {
  readonly statusCode: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

const ofGot = ({ statusCode, headers, body }: GotResponse): Seen => ({
  status: statusCode,
  contentType: headers['content-type'] as string,
  text: body,
})

async function curl(url: string, headers: Headers, ...options: readonly string[]): Promise<Seen> {
  const given = Object.entries(headers).flatMap(([name, value]) => ['--header', `${name}: ${value}`])
  const written = '\n%{http_code} %{content_type}'
  const { stdout } = await run('curl', ['--silent', '--max-time', '20', '--write-out', written, ...given, ...options, url])
  const at = stdout.lastIndexOf('\n')
  const [status, ...contentType] = stdout.slice(at + 1).split(' ')
  return { status: Number(status), contentType: contentType.join(' '), text: stdout.slice(0, at) }
}

const python = `
import json, sys, urllib.error, urllib.request
url, headers, method, data = json.loads(sys.argv[1])
request = urllib.request.Request(url, headers=headers, method=method, data=None if data is None else data.encode())
try:
    response = urllib.request.urlopen(request, timeout=20)
except urllib.error.HTTPError as error:
    response = error
print(json.dumps({'status': response.status, 'contentType': response.headers['content-type'], 'text': response.read().decode()}))
`

async function urllib(url: string, headers: Headers, method: string, data: string | null): Promise<Seen> {
  const { stdout } = await run('python3', ['-c', python, JSON.stringify([url, headers, method, data])])
  return JSON.parse(stdout)
}

const axiosText = { responseType: 'text', transformResponse: (data: string) => data, validateStatus: () => true } as const
const gotText = { throwHttpErrors: false, retry: { limit: 0 } } as const
const kyText = { throwHttpErrors: false, retry: 0 } as const
const json = { 'content-type': 'application/json' }

const clients: Readonly<Record<string, HttpClient>> = {
  axios: {
    head: async (url, headers) => ofAxios(await axios.head(url, { headers, ...axiosText })),
    postNothing: {
      'no argument': async (url, headers) => ofAxios(await axios.post(url, undefined, { headers, ...axiosText })),
      null: async (url, headers) => ofAxios(await axios.post(url, null, { headers, ...axiosText })),
      'an empty object': async (url, headers) => ofAxios(await axios.post(url, {}, { headers, ...axiosText })),
    },
    postJson: async (url, headers, body) => ofAxios(await axios.post(url, body, { headers, ...axiosText })),
  },
  got: {
    head: async (url, headers) => ofGot(await got.head(url, { headers, ...gotText })),
    postNothing: { 'no body': async (url, headers) => ofGot(await got.post(url, { headers, ...gotText })) },
    postJson: async (url, headers, body) => ofGot(await got.post(url, { headers, json: body, ...gotText })),
  },
  ky: {
    head: async (url, headers) => ofResponse(await ky.head(url, { headers, ...kyText })),
    postNothing: {
      'no body': async (url, headers) => ofResponse(await ky.post(url, { headers, ...kyText })),
      'an empty text': async (url, headers) => ofResponse(await ky.post(url, { headers, body: '', ...kyText })),
    },
    postJson: async (url, headers, body) => ofResponse(await ky.post(url, { headers, json: body, ...kyText })),
  },
  fetch: {
    head: async (url, headers) => ofResponse(await fetch(url, { method: 'HEAD', headers })),
    postNothing: {
      'no body': async (url, headers) => ofResponse(await fetch(url, { method: 'POST', headers })),
      'an empty text': async (url, headers) => ofResponse(await fetch(url, { method: 'POST', headers, body: '' })),
    },
    postJson: async (url, headers, body) =>
      ofResponse(await fetch(url, { method: 'POST', headers: { ...headers, ...json }, body: JSON.stringify(body) })),
  },
  undici: {
    head: async (url, headers) => ofUndici(await request(url, { method: 'HEAD', headers })),
    postNothing: {
      'no body': async (url, headers) => ofUndici(await request(url, { method: 'POST', headers })),
      'an empty text': async (url, headers) => ofUndici(await request(url, { method: 'POST', headers, body: '' })),
    },
    postJson: async (url, headers, body) =>
      ofUndici(await request(url, { method: 'POST', headers: { ...headers, ...json }, body: JSON.stringify(body) })),
  },
  ...(spawnSync('curl', ['--version']).status === 0 && {
    curl: {
      head: (url, headers) => curl(url, headers, '--head', '--output', '/dev/null'),
      postNothing: {
        '-X POST': (url, headers) => curl(url, headers, '-X', 'POST'),
        "-d ''": (url, headers) => curl(url, headers, '-d', ''),
        "--json ''": (url, headers) => curl(url, headers, '--json', ''),
      },
      postJson: (url, headers, body) => curl(url, headers, '--json', JSON.stringify(body)),
    },
  }),
  ...(hasPython && {
    urllib: {
      head: (url, headers) => urllib(url, headers, 'HEAD', null),
      postNothing: {
        'no data': (url, headers) => urllib(url, headers, 'POST', null),
        'data=b""': (url, headers) => urllib(url, headers, 'POST', ''),
      },
      postJson: (url, headers, body) => urllib(url, { ...headers, ...json }, 'POST', JSON.stringify(body)),
    },
  }),
}

let rig: ActionRig
afterEach(() => rig[Symbol.asyncDispose]())

/** A swap that the provider holds, and that it lets its owner decide about. */
async function held(): Promise<{ readonly url: string; readonly headers: Headers }> {
  rig = await startActions('changenow')
  const id = await rig.begin()
  Object.assign(rig.swap(), { status: 'verifying', hasActions: true })
  return { url: `${rig.gateway.url}/a/api/v2/transactions/${id}`, headers: { authorization: `Bearer ${rig.key}` } }
}

describe.each(Object.entries(clients))('%s', (_, client) => {
  test.each(Object.entries(client.postNothing))('posts an action without a body: %s', async (_way, post) => {
    const { url, headers } = await held()
    const done = await post(`${url}/continue`, headers)
    expect(done.status, done.text).toBe(200)
    expect(rig.sent('continue')).toEqual([{ id: rig.swap().id }])
  })

  test('posts an action with one', async () => {
    const { url, headers } = await held()
    const done = await client.postJson(`${url}/refund`, headers, { address: refundAddress })
    expect(done.status, done.text).toBe(200)
    expect(rig.sent('refund')).toEqual([{ id: rig.swap().id, address: refundAddress }])
  })

  test('reads the head of a stream, and does not wait for its end', async () => {
    const { url, headers } = await held()
    const head = await client.head(`${url}/events`, headers)
    expect([head.status, head.contentType]).toEqual([200, 'text/event-stream; charset=utf-8'])
  })

  test('reads why a create was refused', async () => {
    const { headers } = await held()
    const refused = await client.postJson(`${rig.gateway.url}/a/api/v2/transactions`, headers, {})
    expect([refused.status, refused.contentType]).toEqual([400, 'application/json; charset=utf-8'])
    expect(JSON.parse(refused.text)).toMatchObject({ message: expect.stringContaining('coinFrom') })
  })
})
