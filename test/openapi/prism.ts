/** prism: an independent validation proxy; it compares each exchange with a description. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createRequire } from 'node:module'
import { expect } from 'vitest'
import type { ReceivedResponse } from '../support/client.ts'

interface Violation {
  readonly location: readonly string[]
  readonly severity: string
  readonly message: string
}

export interface Prism extends AsyncDisposable {
  /** Where the paths of the description begin. */
  readonly url: string
}

const require = createRequire(import.meta.url)
const program = require.resolve('@stoplight/prism-cli')

/** A proxy in front of `upstream` with the description in that file. */
export async function startPrism(file: string, upstream: string): Promise<Prism> {
  const env = { ...process.env, NODE_COMPILE_CACHE: 'node_modules/.cache/prism' }
  const child = spawn(process.execPath, [program, 'proxy', file, upstream, '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  return {
    url: await listening(child, ended),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

async function listening(child: ChildProcess, ended: Promise<unknown>): Promise<string> {
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.setEncoding('utf8').on('data', (text: string) => (output += text))
  for (;;) {
    const [, url] = /listening on (http:\S+)/.exec(output) ?? []
    if (url !== undefined) return url
    const isOver = await Promise.race([
      once(child.stdout as NodeJS.ReadableStream, 'data').then(() => false),
      ended.then(() => true),
    ])
    if (isOver) throw new Error(`prism ended: ${output}`)
  }
}

/** Where a response that came through prism violates the description. */
export function violations({ headers }: ReceivedResponse, where: 'request' | 'response'): readonly string[] {
  const found = JSON.parse(String(headers['sl-violations'] ?? '[]')) as readonly Violation[]
  return found.filter(({ location }) => location[0] === where).map(({ location, message }) => `${location.join('.')}: ${message}`)
}

/** The response is as described. */
export function expectDescribed(response: ReceivedResponse, context: string): void {
  expect(violations(response, 'response'), `${context}: ${response.status} ${response.text}`).toEqual([])
}
