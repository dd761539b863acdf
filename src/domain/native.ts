import { plainAmount, toAmount } from './amount.ts'
import { Fault } from './fault.ts'
import type { Context, Op } from './service.ts'

/** The operation whose rate limit and budget apply to a native call (docs/contract.md §11). */
export function countedAs(method: NativeMethod): Op {
  return method === 'GET' || method === 'HEAD' ? 'getTransaction' : 'createTransaction'
}

/** Called with the head of the response. `fault`: what an error status means; absent for other statuses. */
export type ReportHead = (fault?: Fault) => void

/** Sends the request and resolves when the whole response was passed on. Throws a `Fault` if it was not, or the reason of `signal`. */
export type MakeNativeCall = (reportHead: ReportHead, signal: AbortSignal) => Promise<void>

/** Throws `unavailable` if it rejects a call, or if the account has no place left. */
export interface NativeGuard {
  /** Wraps each native call to one provider. */
  readonly call: (openPath: OpenPath, context: Context, call: MakeNativeCall) => Promise<void>
  /** Wraps the wait for a body that is read before its call: it takes a place of the account, and none of the provider. */
  readonly awaitBody: <Body>(account: string, body: () => Promise<Body>) => Promise<Body>
}

// Methods and paths that a provider's native lane opens (docs/contract.md §11).

const nativeMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

type NativeMethod = (typeof nativeMethods)[number]

export interface OpenPath {
  readonly method: NativeMethod
  /** As configured, such as `/coins/{}/networks`. */
  readonly pattern: string
  readonly segments: readonly string[]
}

/** Each matches any one segment; the second is the provider's own id of a swap of the caller. */
const wildcard = '{}'
const swapId = '{id}'
const segmentName = /^[A-Za-z0-9._~-]+$/
const dotSegment = /^\.\.?$/

/** Parses an entry such as `GET /coins/{}/networks`. Undefined if it is not a method and a path. */
export function parseOpenPath(entry: string): OpenPath | undefined {
  const [word = '', pattern = '', ...others] = entry.split(' ')
  const method = nativeMethods.find((known) => known === word)
  const [root, ...segments] = pattern.split('/')
  const isPath = root === '' && segments.length > 0 && segments.every((segment) => isPlaceholder(segment) || isName(segment))
  return method && isPath && others.length === 0 ? { method, pattern, segments } : undefined
}

/** The one that opens `path` to `method`. Any character that a name of a segment may not have closes a path. */
export function findOpenPath(open: readonly OpenPath[], method: string, path: string): OpenPath | undefined {
  const [root, ...names] = path.split('/')
  if (root !== '' || !names.every(isName)) return undefined
  return open.find((candidate) => candidate.method === method && matches(candidate.segments, names))
}

/** Whether a call of it may name a swap in its path. */
export function namesSwaps({ segments }: OpenPath): boolean {
  return segments.some(isPlaceholder)
}

/**
 * Whether the entry opens `method` on some path that also matches `pattern`, such as `/transactions/{id}`. HEAD counts as GET, and
 * case is ignored, because many servers ignore it.
 */
export function overlaps(openPath: OpenPath, method: string, pattern: string): boolean {
  const [, ...others] = pattern.toLowerCase().split('/')
  const { segments } = openPath
  const isSameMethod = method === (openPath.method === 'HEAD' ? 'GET' : openPath.method)
  return isSameMethod && segments.length === others.length && segments.every((segment, at) => meet(segment, others[at] ?? ''))
}

/** Those of these ids that are swaps of any owner at any tag of the provider's account, of each whether it is this owner's. */
export type SwapsNamed = (owner: string, provider: string, ids: readonly string[]) => Promise<ReadonlyMap<string, boolean>>

/** What a call names that may be the id of a swap. */
export interface NamedSwaps {
  /** Must be swaps of the caller. */
  readonly own: readonly string[]
  /** Must not be swaps of others: other segments, values of the query and of the body, whole, in parts, and in other spellings. */
  readonly other: readonly string[]
}

/** `path`: one that the entry opens. `body`: its text, if it is one. Throws `invalid` for a query or a body that names too much. */
export function namedSwaps({ segments }: OpenPath, path: string, query: string, body = ''): NamedSwaps {
  const [, ...names] = path.split('/')
  const namesAt = (placeholder: string): readonly string[] => names.filter((_, at) => segments[at] === placeholder)
  const others = namesAt(wildcard)
  const inBody = valuesIn(body)
  const inQuery = membersIn(query)
  const whole = [...others, ...inQuery, ...inBody]
  const possible = new Set([...inBody, ...whole.flatMap(partsOf), ...runsIn(`${others.join('/')}?${query}`), ...runsIn(body)])
  if (possible.size > maxPossible) {
    const message = 'Invalid request: it names too much that may be the id of a swap; please ask for less at a time.'
    throw new Fault('invalid', message)
  }
  return { own: namesAt(swapId), other: [...new Set([...whole, ...[...possible].flatMap(spellingsOf)])] }
}

// A provider may read an id in a list, in JSON, without regard to case, or without the hyphens of a UUID. So ids are looked for in `{}`, in
// values and in names that have a digit: as they stand, each part of a list, each run of 8 letters and digits or more, decoded up to three
// times, in lower and upper case, with and without hyphens; more than 50 are refused (`test/native/own-swaps.test.ts`).

const minRunLength = 8
/** Of a longer query nobody knows all that it names. */
const maxPossible = 50
const maxDecodings = 3

/** What stands in the text, decoded or not, and is as long as ids are. */
function runsIn(text: string): readonly string[] {
  const runs = decodedTexts(text).flatMap((each) => [...each.split(/[^a-z0-9-]+/i), ...each.split(/[^a-z0-9_-]+/i)])
  return runs.filter((run) => run.replaceAll('-', '').length >= minRunLength)
}

/** The values of a body in JSON, also of one that repeats a name or is cut off, or of a form; of both the names that may be ids. */
function valuesIn(body: string): readonly string[] {
  const text = body.trim()
  return (/^[{["]/.test(text) ? jsonValuesIn(text) : membersIn(text)).filter((value) => value !== '')
}

/** Texts and words. A text that nothing ends reaches to the end, so that no part is read twice. */
function jsonValuesIn(text: string): readonly string[] {
  const isName = /\s*:/y
  return [...text.matchAll(/"((?:[^"\\]|\\.)*)"?|[^\s"{}[\],:]+/gs)].flatMap(({ 0: token, 1: content = token, index }) => {
    isName.lastIndex = index + token.length
    return isName.test(text) && !hasDigit(content) ? [] : [...decodedTexts(content), ...wholeNumberOf(token)]
  })
}

/** Of a query or a form: all values, and the names that may be ids. */
function membersIn(text: string): readonly string[] {
  return [...new URLSearchParams(text)].flatMap(([name, value]) => (hasDigit(name) ? [name, value] : [value]))
}

/** Nearly every id has a digit, and few names have one. */
function hasDigit(text: string): boolean {
  return /\d/.test(text)
}

/** Of `4.1e1` and `41.0`: `41`, as a provider reads it. */
function wholeNumberOf(token: string): readonly string[] {
  if (!/^\d+[.e]/i.test(token)) return []
  const amount = toAmount(token)
  return [amount === undefined ? String(Number(token)) : plainAmount(amount)]
}

function spellingsOf(run: string): readonly string[] {
  const bare = run.replaceAll('-', '')
  const uuid = /^[0-9a-f]{32}$/i.test(bare) ? [bare.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-')] : []
  return [run, bare, ...uuid].flatMap((id) => [id, id.toLowerCase(), id.toUpperCase()])
}

/** The text, and what comes of it where a provider decodes it, once or again. */
function decodedTexts(text: string): readonly string[] {
  const texts = [text]
  for (let last = text; texts.length <= maxDecodings; texts.push(last)) {
    const next = last.replace(/(?:%|\\u00)([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    if (next === last) break
    last = next
  }
  return texts
}

/** Of `a,b`, `{"id":"a"}` or `a.json`: what may be an id in it. An amount has none: some ids are numbers. */
function partsOf(value: string): readonly string[] {
  if (/^\d*\.\d*$/.test(value)) return []
  const parts = [...value.split(/[^A-Za-z0-9_-]+/), ...value.split(/[^A-Za-z0-9._-]+/)].filter((part) => part !== '')
  return parts.filter((part) => part !== value)
}

function isPlaceholder(segment: string): boolean {
  return segment === wildcard || segment === swapId
}

function matches(segments: readonly string[], names: readonly string[]): boolean {
  return segments.length === names.length && segments.every((segment, at) => isPlaceholder(segment) || segment === names[at])
}

function meet(segment: string, other: string): boolean {
  return isPlaceholder(segment) || other.includes('{') || segment.toLowerCase() === other
}

function isName(segment: string): boolean {
  return segmentName.test(segment) && !dotSegment.test(segment)
}
