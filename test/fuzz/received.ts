/** All responses on one connection, and what holds for each. */
import { expect } from 'vitest'
import { reasons } from '../../src/domain/fault.ts'

interface Received {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  /** Empty for HEAD. */
  readonly body: string
}

const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/
const known: ReadonlySet<string> = new Set(reasons)

/** Throws if the bytes are something else than complete responses. */
function readResponses(text: string): readonly Received[] {
  const responses: Received[] = []
  for (let rest = text; rest !== ''; ) {
    const [found, status, lines = ''] = head.exec(rest) ?? []
    if (found === undefined) throw new Error(`This is no response: ${JSON.stringify(rest.slice(0, 200))}`)
    const headers = new Map(
      [...lines.matchAll(/([^\s:]+): ([^\r]*)/g)].map(([, name = '', value = '']) => [name.toLowerCase(), value]),
    )
    const after = rest.slice(found.length)
    const length = after.startsWith('HTTP/1.1 ') ? 0 : Number(headers.get('content-length') ?? 0)
    responses.push({ status: Number(status), headers, body: after.slice(0, length) })
    rest = after.slice(length)
  }
  return responses
}

/** Each response is in a form, and each error has a reason of the closed list, but none is 500. `sent` is for the report. */
export function expectInForm(text: string, sent: string): void {
  for (const { status, headers, body } of readResponses(text)) {
    const about = `${status} ${headers.get('x-swap-reason')} ${body} after ${JSON.stringify(sent)}`
    expect(status, about).not.toBe(500)
    expect(known.has(headers.get('x-swap-reason') ?? ''), about).toBe(status >= 400)
    if (status < 400) continue
    expect(headers.get('content-type'), about).toBe('application/json; charset=utf-8')
    if (body !== '') expect(JSON.parse(body), about).toMatchObject({ code: status, message: expect.any(String) })
  }
}
