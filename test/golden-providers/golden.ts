/** A golden of a provider's form: one operation, its calls over HTTP, and its outcome. `README.md` beside this file shows how one reads. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isAttention } from '../../src/domain/status.ts'
import {
  dividerOfSections,
  type GoldenRequest,
  type GoldenResponse,
  parseRequest,
  parseRequestFields,
  parseResponse,
  parseResponseFields,
  type WireRequest,
  type WireResponse,
} from '../golden/golden.ts'

export interface ProviderGolden {
  readonly file: string
  readonly title: string
  readonly settings: Readonly<Record<string, string>>
  readonly drift: readonly string[]
  /** Words of the last response's `status`, and what each means: the same golden holds for each of them. */
  readonly statusWords: readonly (readonly [word: string, status: string])[]
  /** Domain fields of the request that the form needs; absent: not looked at. */
  readonly requiredInRequest: ReadonlySet<string> | undefined
  /** Paths that a response needs, by the index of its exchange. */
  readonly requiredInResponse: ReadonlyMap<number, ReadonlySet<string>>
  readonly request: GoldenRequest
  readonly exchanges: readonly Exchange[]
  readonly outcome: GoldenResponse
}

export interface Exchange {
  readonly request: WireRequest
  readonly response: WireResponse
}

/** All goldens of a provider's form, by the name of its folder. */
export function readProviderGoldens(form: string): readonly ProviderGolden[] {
  const folder = join(import.meta.dirname, form)
  const files = readdirSync(folder).filter((file) => file.endsWith('.txt'))
  return files.sort().flatMap((file) => withStatusWords(parse(file, readFileSync(join(folder, file), 'utf8'))))
}

function parse(file: string, text: string): ProviderGolden {
  const [head = '', request = '', ...rest] = text.split(dividerOfSections).map((section) => section.trim())
  const outcome = rest.pop()
  if (outcome === undefined || rest.length % 2 !== 0) throw new Error(`${file}: a request, two sections for each call, an outcome`)
  const line = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(head)?.[1]
  const settings = line('settings')
  const required = line('required in the request')
  return {
    file,
    title: head.split('\n')[0] ?? '',
    settings: settings === undefined ? {} : (JSON.parse(settings) as Record<string, string>),
    drift: line('drift')?.split(', ') ?? [],
    statusWords: (line('status words')?.split(', ') ?? []).map((pair) => pair.split(' = ') as [string, string]),
    requiredInRequest: required === undefined ? undefined : new Set(required.split(', ')),
    requiredInResponse: new Map(
      [...head.matchAll(/^required in response (\d+): (.*)$/gm)].map(([, at, paths = '']) => [
        Number(at) - 1,
        withParents(paths.split(', ')),
      ]),
    ),
    request: parseRequestFields(request),
    exchanges: rest.flatMap((section, at) => {
      const response = rest[at + 1]
      return at % 2 === 0 && response !== undefined ? [parseExchange(section, response)] : []
    }),
    outcome: parseResponseFields(outcome),
  }
}

/** The golden itself, and one for each further word. */
function withStatusWords(golden: ProviderGolden): readonly ProviderGolden[] {
  const { title, exchanges, outcome, statusWords } = golden
  const last = exchanges.at(-1)
  if (!last) return [golden]
  const { request, response } = last
  const variants = statusWords.map(([word, status]): ProviderGolden => {
    const body = response.body.replace(/("status"\s*:\s*)"[^"]*"/, `$1${JSON.stringify(word)}`)
    const changed = [...exchanges.slice(0, -1), { request, response: { ...response, body } }]
    const required = { requiredInRequest: undefined, requiredInResponse: new Map<number, ReadonlySet<string>>() }
    const answered = { ...outcome, body: { ...outcome.body, ...meaningOf(status) } }
    return { ...golden, ...required, title: `${title} ${word}`, exchanges: changed, outcome: answered }
  })
  return [golden, ...variants]
}

/** A transaction that needs a person has a status of its own beside that, and may have a reason. */
function meaningOf(words: string): object {
  const [word, statusReason] = words.split(' ')
  if (!isAttention(word)) return { status: word }
  return { status: 'exchanging', attention: word, ...(statusReason && { statusReason }) }
}

function parseExchange(request: string, response: string): Exchange {
  const parsed = parseResponse(response)
  const [, recorded] = /^recorded: (\S+)$/.exec(parsed.body) ?? []
  const body = recorded === undefined ? parsed.body : readFileSync(join(import.meta.dirname, '../recorded', recorded), 'utf8')
  return { request: parseRequest(request), response: { ...parsed, body } }
}

function withParents(paths: readonly string[]): ReadonlySet<string> {
  return new Set(paths.flatMap((path) => path.split('.').map((_, at, names) => names.slice(0, at + 1).join('.'))))
}
