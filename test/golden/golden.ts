/**
 * A golden: one exchange, on the wire and in the domain, written by hand from `docs/service.md` and never from the output of
 * the code. `README.md` beside this file shows how one reads.
 */
import type { FaultKind } from '../../src/domain/fault.ts'
import { type Question, questionNames } from '../../src/domain/question.ts'
import { type Op, ops } from '../../src/domain/service.ts'

export interface Golden {
  readonly file: string
  readonly title: string
  /** The one edge for which it holds; absent if it holds for both. */
  readonly only: 'serve' | 'connect' | undefined
  /** Wire names without which the request, or the response (a row of it), is not of the form; absent: not looked at. */
  readonly required: { readonly request: ReadonlySet<string> | undefined; readonly response: ReadonlySet<string> | undefined }
  /** Absent: nothing is sent. */
  readonly request: WireRequest | undefined
  /** Absent: the service is not called. */
  readonly domainRequest: GoldenRequest | undefined
  /** Absent: the service does not respond. */
  readonly domainResponse: GoldenResponse | undefined
  /** Absent: nothing comes back. */
  readonly response: WireResponse | undefined
}

interface Message {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

export interface WireRequest extends Message {
  readonly method: string
  readonly path: string
  readonly query: string
}

export interface WireResponse extends Message {
  readonly status: number
}

export interface GoldenRequest {
  readonly op: Op | Question
  readonly key: string | undefined
  readonly fields: Readonly<Record<string, unknown>>
}

export interface GoldenResponse {
  /** Where the service throws. */
  readonly fault: FaultKind | undefined
  readonly derived: readonly string[]
  readonly provider: string | undefined
  /** Seconds since it was read; absent if it is current. */
  readonly stale?: number | undefined
  /** Whether it is a replay. */
  readonly replayed?: boolean
  /** Whether the provider waits for what the owner decides. */
  readonly awaitsOwner?: boolean
  readonly warning?: string | undefined
  /** The response, or the details of the fault. */
  readonly body: Readonly<Record<string, unknown>>
}

export const dividerOfSections = /^-{20,}\n/m

/** Throws where the text is not a golden. */
export function parseGolden(file: string, text: string): Golden {
  const sections = text.split(dividerOfSections).map((section) => section.trim())
  const [head, request, domainRequest, domainResponse, response] = sections
  if (
    head === undefined ||
    request === undefined ||
    domainRequest === undefined ||
    domainResponse === undefined ||
    response === undefined
  ) {
    throw new Error(`${file}: a golden has five sections`)
  }
  const optionalSection = <T>(section: string, parse: (section: string) => T): T | undefined =>
    section === 'nothing' ? undefined : parse(section)
  return {
    file,
    title: head.split('\n')[0] ?? '',
    only: /^only (serve|connect):/m.exec(head)?.[1] as Golden['only'],
    required: { request: names(head, 'request'), response: names(head, 'response') },
    request: optionalSection(request, parseRequest),
    domainRequest: optionalSection(domainRequest, parseRequestFields),
    domainResponse: optionalSection(domainResponse, parseResponseFields),
    response: optionalSection(response, parseResponse),
  }
}

function names(head: string, side: string): ReadonlySet<string> | undefined {
  const line = new RegExp(`^required in the ${side}: (.*)$`, 'm').exec(head)?.[1]
  return line === undefined ? undefined : new Set(line.split(', '))
}

export function parseRequest(section: string): WireRequest {
  const { first, headers, body } = parseMessage(section)
  const [method = '', target = ''] = first.split(' ')
  const [path = '', query = ''] = target.split('?')
  return { method, path, query, headers, body }
}

export function parseResponse(section: string): WireResponse {
  const { first, headers, body } = parseMessage(section)
  return { status: Number(first), headers, body }
}

/** A line, headers, an empty line, a body. */
function parseMessage(section: string): Message & { readonly first: string } {
  const end = section.indexOf('\n\n')
  const [first = '', ...lines] = (end < 0 ? section : section.slice(0, end)).split('\n')
  const headers = Object.fromEntries(lines.map((line) => line.split(/: (.*)/s).slice(0, 2) as [string, string]))
  return { first, headers, body: end < 0 ? '' : section.slice(end + 2) }
}

export function parseRequestFields(section: string): GoldenRequest {
  const [first = '', ...rest] = section.split('\n')
  const [, name, key] = /^(\w+)(?:, key (\S+))?$/.exec(first) ?? []
  const op = [...ops, ...questionNames].find((candidate) => candidate === name)
  if (!op) throw new Error(`${first} is not an operation`)
  return { op, key, fields: JSON.parse(rest.join('\n')) as GoldenRequest['fields'] }
}

export function parseResponseFields(section: string): GoldenResponse {
  const start = section.indexOf('{')
  const head = section.slice(0, start)
  const word = (name: string): string | undefined => new RegExp(`^${name} (.+)$`, 'm').exec(head)?.[1]
  return {
    fault: word('fault') as FaultKind | undefined,
    derived: word('derived')?.split(', ') ?? [],
    provider: word('provider'),
    stale: word('stale') === undefined ? undefined : Number(word('stale')),
    replayed: /^replayed$/m.test(head),
    awaitsOwner: /^awaits its owner$/m.test(head),
    warning: word('warning'),
    body: JSON.parse(section.slice(start)) as GoldenResponse['body'],
  }
}
