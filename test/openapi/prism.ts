/** prism: an independent validation proxy; it compares each exchange with a description. */
import { getHttpOperationsFromSpec } from '@stoplight/prism-http'
import { createServer } from '@stoplight/prism-http-server'
import { pino } from 'pino'
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

/** A proxy in front of `upstream` with the description in that file. It compares requests, responses and credentials. */
export async function startPrism(file: string, upstream: string): Promise<Prism> {
  const comparisons = { checkSecurity: true, validateRequest: true, validateResponse: true, errors: false }
  const server = createServer(await getHttpOperationsFromSpec(file), {
    cors: true,
    config: { ...comparisons, isProxy: true, upstream: new URL(upstream), upstreamProxy: undefined, mock: { dynamic: false } },
    components: { logger: pino({ level: 'silent' }) },
  })
  const url = await server.listen(0, '127.0.0.1')
  return { url, [Symbol.asyncDispose]: () => server.close() }
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
