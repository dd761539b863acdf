/** zod: the value types of the configuration. Each parses text; its error message describes a valid value. */

import { RE2JS } from 're2js'
import { z } from 'zod'
import type { Pattern } from '../domain/address/rule.ts'
import { type Amount, compareAmounts, toAmount, zero } from '../domain/amount.ts'
import { isTimezone } from '../domain/instant.ts'
import { type OperatorToken, operatorRoles } from '../domain/operator-role.ts'
import { isRedisUrl } from '../domain/redis-url.ts'
import { isAllowedTarget } from '../domain/webhook-target.ts'

const integerText = /^(?:0|[1-9][0-9]*)$/
const numberText = /^(?:0|[1-9][0-9]*)(?:\.[0-9]+)?$/
const maxSeconds = 604_800

/** Builds a message that follows the path. It never contains the value, which may be a secret. */
function must(what: string) {
  return { error: ({ input }: { readonly input?: unknown }) => (input === undefined ? 'is missing' : `must ${what}`) }
}

export const text = z.string(must('be a text'))
export const name = text.min(1, 'must not be empty')

/** What an editor may know of a number, which is text here: of JSON Schema. */
interface NumberRange {
  readonly type: 'integer' | 'number'
  readonly minimum?: number
  readonly exclusiveMinimum?: number
  readonly maximum?: number
}

function numeric<T extends z.ZodType>(kind: T, range: NumberRange): T {
  return kind.meta({ number: range }) as T
}

/**
 * What of a value is secret. `key`: all of it, for everybody. `url`: all of it if it has credentials. `terms`: all of it, but a provider
 * that names it in a text tells its client nothing new.
 */
export type Secret = 'key' | 'url' | 'terms'

/** Marks a kind: `secrets.ts` finds the places that have it. */
export function secret<T extends z.ZodType>(kind: T, what: Secret): T {
  return kind.meta({ secret: what }) as T
}

export function integer(min: number, max?: number) {
  const what = `be an integer from ${min}${max === undefined ? '' : ` to ${max}`}`
  const isWithin = (value: number): boolean => value >= min && value <= (max ?? Number.MAX_SAFE_INTEGER)
  const digits = z.string(must(what)).refine((text) => integerText.test(text) && isWithin(Number(text)), `must ${what}`)
  return numeric(digits.transform(Number), { type: 'integer', minimum: min, ...(max !== undefined && { maximum: max }) })
}

export const port = integer(0, 65_535)

/** A fraction from 0 to 1. */
export const share = numeric(
  z
    .string(must('be a number from 0 to 1'))
    .refine((digits) => numberText.test(digits) && Number(digits) <= 1, 'must be a number from 0 to 1')
    .transform(Number),
  { type: 'number', minimum: 0, maximum: 1 },
)

/** A number of seconds, at most a week. */
export function seconds(range: 'from 0' | 'above 0' = 'from 0', max = maxSeconds) {
  const what = `be a number of seconds ${range}, at most ${max}`
  const isWithin = (value: number): boolean => value <= max && (range === 'from 0' || value > 0)
  const digits = z.string(must(what)).refine((text) => numberText.test(text) && isWithin(Number(text)), `must ${what}`)
  const lowest = range === 'from 0' ? { minimum: 0 } : { exclusiveMinimum: 0 }
  return numeric(digits.transform(Number), { type: 'number', ...lowest, maximum: max })
}

/** A number of days, as text like `400d`. */
export const days = z
  .string(must('be a number of days like 400d'))
  .regex(/^[1-9]\d{0,4}d$/, 'must be a number of days like 400d')
  .transform((text) => Number.parseInt(text, 10))

export const flag = z.enum(['true', 'false'], must('be true or false')).transform((word) => word === 'true')

export function choice<const Word extends string>(words: readonly Word[]) {
  return z.enum(words, must(`be one of ${words.join(', ')}`))
}

export function autoOr<T extends z.ZodType>(kind: T, message: string) {
  return z.union([z.literal('auto'), kind], message)
}

/** An exact decimal from 0, kept as text. */
export const amount = text.transform((lexeme, context): Amount => {
  const value = toAmount(lexeme)
  if (value !== undefined && compareAmounts(value, zero) >= 0) return value
  context.issues.push({ code: 'custom', message: 'must be a number from 0', input: lexeme })
  return z.NEVER
})

/** A regular expression that must match the whole text. */
export const pattern = text.transform((source, context): Pattern => {
  const compiled = toPattern(source)
  if (compiled) return compiled
  context.issues.push({
    code: 'custom',
    message: 'must be a pattern of RE2: without look-around and backreferences',
    input: source,
  })
  return z.NEVER
})

/** An http or https URL without credentials, query or fragment, so that a path can be appended. */
export const baseUrl = text.check(({ value, issues }) => {
  const fail = (message: string): unknown => issues.push({ code: 'custom', message, input: value })
  const url = URL.parse(value)
  if (!url || !/^https?:$/.test(url.protocol)) fail('must be an http or https URL')
  else if (url.username !== '' || url.password !== '') fail('must not hold credentials')
  else if (url.search !== '' || url.hash !== '') fail('must not have a query or a fragment')
})

/** A base URL, or empty. */
export const baseUrlOrNone = z.union(
  [z.literal(''), baseUrl],
  'must be an http or https URL without credentials, query or fragment',
)

/** Whether it is the URL of a proxy, with or without user and password. */
export function isProxyUrl(value: string): boolean {
  const url = URL.parse(value)
  if (url === null || !/^https?:$/.test(url.protocol)) return false
  return url.pathname === '/' && url.search === '' && url.hash === '' && isDecodable(url.username) && isDecodable(url.password)
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text)
    return true
  } catch {
    return false
  }
}

export const proxy = secret(
  text.refine(
    (value) => value === 'direct' || value === 'environment' || isProxyUrl(value),
    'must be direct, environment or http://user:password@host:port without a path: reserved characters of the password must be percent-encoded',
  ),
  'url',
)

/** Braces would decide the slot of a cluster. */
export const redisPrefix = z
  .string(must('be a text'))
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._:-]{0,63}$/,
    'must be 1 to 64 of A-Z, a-z, 0-9, dot, colon, hyphen and underscore, and begin with a letter or digit',
  )

/** Empty, or the URL of a node, of sentinels or of a cluster, with or without credentials. */
export const redisUrl = secret(
  text.refine(
    (value) => value === '' || isRedisUrl(value),
    'must be redis://host, redis+sentinel://host,host/name or redis+cluster://host,host',
  ),
  'url',
)

/**
 * The ledger's file or server. A password with a slash or a hash that is not percent-encoded would be read as a port and a path,
 * and be shown as the server's address.
 */
export const ledgerUrl = secret(
  text.check(({ value, issues }) => {
    const fail = (message: string): unknown => issues.push({ code: 'custom', message, input: value })
    if (/^sqlite:./.test(value)) return
    if (!/^postgres(?:ql)?:\/\/./.test(value)) fail('must be sqlite:<file> or postgres://…')
    else if (!isServerUrl(URL.parse(value)))
      fail('must be postgres://user:password@host/database: reserved characters of the password must be percent-encoded')
  }),
  'url',
)

function isServerUrl(url: URL | null): boolean {
  return url !== null && url.hash === '' && !url.pathname.includes('@')
}

/** A value that browsers send as `Origin`. */
/** As browsers send it in `Origin`; `https://*.example.com` is every host below example.com. */
export const origin = text.refine(
  isOrigin,
  'must be an origin like https://app.example, https://*.example.com or capacitor://localhost',
)

function isOrigin(value: string): boolean {
  const plain = value.replace('://*.', '://any.')
  const url = URL.parse(plain)
  if (!url?.host || plain.includes('*')) return false
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return plain === value && `${url.protocol}//${url.host}` === value
  return url.origin === plain && (plain === value || url.hostname.split('.').length > 2)
}

export const timezone = text.refine(isTimezone, 'must be a zone like Europe/Berlin or +08:00')

/** Empty for none. */
export const word = text.regex(/^[A-Za-z0-9._-]{0,64}$/, 'must be 1 to 64 of a-z, A-Z, 0-9, ., _ and -')

/** What a person or a program sends as `Bearer`. */
const token = secret(
  z.string(must('be a text')).regex(/^[\x21-\x7e]{32,512}$/, 'must be 32 to 512 visible characters of ASCII'),
  'key',
)

/** What encrypts: text of base64, in either alphabet. */
export const encryptionKey = secret(
  z
    .string(must('be at least 32 bytes in base64'))
    .regex(/^(?:[A-Za-z0-9+/]+|[A-Za-z0-9_-]+)={0,2}$/, 'must be at least 32 bytes in base64')
    .refine((value) => Buffer.from(value, 'base64').length >= 32, 'must be at least 32 bytes in base64'),
  'key',
)

export const allowedTarget = text.refine(
  isAllowedTarget,
  'must be a network like 10.0.0.0/8, without bits of a host, or http://host or http://host:port',
)

/** A proxy, by its URL alone. */
export const proxyUrl = secret(
  text.refine(
    isProxyUrl,
    'must be http://user:password@host:port without a path: reserved characters of the password must be percent-encoded',
  ),
  'url',
)

export function list<T extends z.ZodType>(item: T) {
  return z.array(item, must('be a list'))
}

/** One item or a list of items. */
export function oneOrMore<T extends z.ZodType>(item: T, message: string) {
  return z.union([list(item), item.transform((one): z.output<T>[] => [one as z.output<T>])], message)
}

export function mapping<T extends z.ZodType>(value: T) {
  return z.record(name, value, must('be a mapping'))
}

export function keys<T extends z.ZodRawShape>(shape: T) {
  return z.strictObject(shape, must('be a mapping'))
}

const tokenWithRoles = keys({
  token,
  roles: list(choice(operatorRoles)).min(1, `must name at least one of ${operatorRoles.join(', ')}`),
})

/** The union takes anything, and what it is for is known: its own fault would hide which of the roles is wrong. */
export const operatorToken = z
  .union([token, tokenWithRoles, z.unknown()])
  .transform((tree, context): OperatorToken => {
    const { data, error } = (typeof tree === 'string' ? token : tokenWithRoles).safeParse(tree)
    for (const issue of error?.issues ?? []) context.issues.push({ ...issue, input: tree } as never)
    return data ?? z.NEVER
  })
  .meta({ anyOf: z.toJSONSchema(z.union([token, tokenWithRoles]), { io: 'input' }).anyOf })

// re2js: the operator's patterns run on clients' input. RE2 takes linear time, so no input makes a pattern slow.

/** By source: many assets of a table share a pattern, and a reload reads the same table again. */
const known = new Map<string, Pattern>()
const maxKnown = 1_000

/** Compiles a pattern that must match the whole text. Undefined if RE2 does not accept it: RE2 has no look-around and no backreferences. */
export function toPattern(source: string): Pattern | undefined {
  const pattern = known.get(source) ?? compile(source)
  if (pattern && known.size < maxKnown) known.set(source, pattern)
  return pattern
}

function compile(source: string): Pattern | undefined {
  try {
    const compiled = RE2JS.compile(source)
    return { source, matches: (text) => compiled.matches(text) }
  } catch {
    return undefined
  }
}

// The kinds of keys of the file, each with its row of `docs/configuration.md`.

/** Documents a key in `docs/configuration.md`. */
export interface Description {
  readonly description: string
  readonly unit?: string
  /** The value if the file has no such key. Absent: the key is required, or is a section. */
  readonly defaultValue?: unknown
}

export function setting<T extends z.ZodType>(kind: T, defaultValue: z.output<T>, description: string, unit = '') {
  return kind.default(defaultValue as never).meta({ description, unit, defaultValue } satisfies Description)
}

/** The same for a kind whose text in the file is not its value. */
export function settingAsText<T extends z.ZodType>(kind: T, defaultText: string, description: string) {
  return kind.prefault(defaultText as never).meta({ description, unit: '', defaultValue: defaultText } satisfies Description)
}

export function required<T extends z.ZodType>(kind: T, description: string) {
  return kind.meta({ description } satisfies Description)
}

export function optional<T extends z.ZodType>(kind: T, description: string) {
  return kind.optional().meta({ description, defaultValue: null } satisfies Description)
}

/** A section in which every key has a default, so that the file may omit it. */
export function section<T extends z.ZodRawShape>(shape: T, description: string) {
  return keys(shape)
    .prefault({} as never)
    .meta({ description } satisfies Description)
}
