/** Mutants that no exchange can distinguish from the form, and why. */
import type { Mutant } from './mutants.ts'

interface Equivalent {
  readonly why: string
  readonly is: (mutant: Mutant) => boolean
}

const inQuery: ReadonlySet<string> = new Set([
  'search',
  'isFirm',
  'networkFrom',
  'networkTo',
  'dateFrom',
  'dateTo',
  'statuses',
  'updatedSince',
])

const equivalents: readonly Equivalent[] = [
  {
    why: 'a query has no null, and the text of a parameter is read before its marker is looked at',
    is: ({ kind, was, becomes }) => kind === 'presence' && inQuery.has(fieldOf(was)) && /^(?:extension|orNull)\(/.test(becomes),
  },
  {
    why: 'an optional member of a request that is null or empty is absent, however its line says that it is optional',
    is: ({ kind, was, becomes, line, source }) =>
      kind === 'presence' && !isInResponse(line, source) && [was, becomes].every((text) => /^(?:extension|optional)\(/.test(text)),
  },
  {
    why: 'a path without its last segment is another path: the parameter cannot be missing',
    is: ({ kind, was, table }) => kind === 'presence' && table === 'request' && was === `'id'`,
  },
  {
    why: 'the gateway always has the id that it requests, the start of a page, and the quote of a create that needs one',
    is: ({ kind, becomes }) => kind === 'presence' && /^optional\('(?:id|offset|quoteId)'\)$/.test(becomes),
  },
  {
    why: 'a request without the amount to be received is one by the amount that is sent, which has tables of its own',
    is: ({ kind, becomes, line, source }) =>
      kind === 'presence' && becomes === `optional('amountOut')` && !isInResponse(line, source),
  },
  {
    why: 'the additional call is never made for what the operation itself refuses',
    is: ({ kind, becomes, source }) => kind === 'presence' && becomes === `optional('rateType')` && source.includes('also: range'),
  },
  {
    why: 'another line of the same field is still required',
    is: ({ kind, becomes, source }) =>
      kind === 'presence' &&
      /^optional\('(?:amountIn|createdAt)'\)$/.test(becomes) &&
      new RegExp(`fallback\\((?:\\w+\\()*'${fieldOf(becomes)}'`).test(source),
  },
  {
    why: 'no provider has this form: its responses are only written, and what is not known is left out in any case',
    is: ({ kind, was, becomes, line, source }) =>
      kind === 'presence' &&
      source.includes('export const exolixClient ') &&
      isInResponse(line, source) &&
      [was, becomes].every((text) => text === fieldText(text) || text === `optional(${fieldText(text)})`),
  },
  {
    why: 'an amount that a create does not report says nothing, whatever the form promises',
    is: ({ kind, was, line, source }) =>
      kind === 'presence' && /^amount(?:In|Out)$/.test(fieldOf(was)) && isInResponse(line, source) && isOfCreate(line, source),
  },
  {
    why: 'a limit that is absent, null or empty is no limit, whatever the form promises',
    is: ({ kind, was, table }) => kind === 'presence' && table !== 'request' && /^(?:minAmount|maxAmount)$/.test(fieldOf(was)),
  },
  {
    why: 'the first spelling of the field is required already',
    is: ({ kind, was, becomes, source }) =>
      kind === 'presence' &&
      was === `optional(${becomes})` &&
      new RegExp(`: ${becomes},\\n +coin\\w+Network: ${becomes}`).test(source),
  },
  {
    why: 'an answer to a question is only written, and these fields are always known',
    is: ({ kind, was, line, source }) => kind === 'presence' && isInAnswer(line, source) && alwaysAnswered.has(fieldOf(was)),
  },
  {
    why: 'an answer to a question is only written, and what is not known is left out in any case',
    is: ({ kind, was, becomes, line, source }) =>
      kind === 'presence' && isInAnswer(line, source) && [was, becomes].every((text) => /^(?:optional\()?'\w+'\)?$/.test(text)),
  },
  {
    why: 'a path without one of its segments is another path: the parameter cannot be missing',
    is: ({ kind, line, source }) =>
      kind === 'presence' &&
      isBelowQuestions(line, source) &&
      !isInResponse(line, source) &&
      /\b(?:from|to|code): /.test(lineOf(line, source)),
  },
  {
    why: 'a field that is assumed may be absent in any case',
    is: ({ kind, becomes, source }) =>
      kind === 'presence' && /^'(?:name|icon)'$/.test(becomes) && new RegExp(`assumes: \\[[^\\]]*${becomes}`).test(source),
  },
]

const alwaysAnswered: ReadonlySet<string> = new Set([
  ...['isValid', 'field', 'reason', 'message'],
  ...['codeFrom', 'codeTo', 'coinFrom', 'coinTo', 'rateType', 'provider', 'failure'],
])

function isBelowQuestions(line: number, source: string): boolean {
  return source
    .split('\n')
    .slice(0, line)
    .some((text) => text.startsWith('  questions: {'))
}

function isInAnswer(line: number, source: string): boolean {
  return isBelowQuestions(line, source) && isInResponse(line, source)
}

function lineOf(line: number, source: string): string {
  return source.split('\n')[line - 1] ?? ''
}

function fieldOf(entry: string): string {
  return /'(\w+)'/.exec(entry)?.[1] ?? ''
}

function fieldText(entry: string): string {
  return `'${fieldOf(entry)}'`
}

/** In a client form: not below `request:`. */
function isInResponse(line: number, source: string): boolean {
  const opening = source
    .split('\n')
    .slice(0, line)
    .findLast((text) => /^ *(?:request|response): \{|^const /.test(text))
  return opening !== undefined && !opening.includes('request:')
}

/** In an operation that creates, or in fields that several operations share. */
function isOfCreate(line: number, source: string): boolean {
  const opening = source
    .split('\n')
    .slice(0, line)
    .findLast((text) => /^ {4}\w+: |^const /.test(text))
  return opening !== undefined && /createTransaction|^const /.test(opening)
}

export function whyEquivalent(mutant: Mutant): string | undefined {
  return equivalents.find(({ is }) => is(mutant))?.why
}
