/** The mistakes that one can make in a provider's form: each changes one thing in its source. The form is data, so its tokens are enough. */
import type { Kind, Mutant, Propose } from './mutants.ts'

interface Token {
  readonly text: string
  readonly start: number
}

interface Entry {
  /** Undefined for a spread. */
  readonly name: Token | undefined
  readonly start: number
  /** After the last character, without a comma. */
  readonly end: number
  /** `{` at which its object begins: entries of one object have the same. */
  readonly object: number
}

const tokenPattern = /'[^'\n]*'|\.{3}|=>|[A-Za-z_][\w$]*|\d[\d.]*|[{}()[\],:<>=?]/g
const markers = 'optional|orNull|extension|emptyIfNone'
const notations = 'text|each|words|lowerCase|zoned|unix|fallback|zeroIsNone'

export function providerMutantsOf(source: string): readonly Mutant[] {
  const mutants: Mutant[] = []
  const propose: Propose = (kind: Kind, start, was, becomes) => {
    const line = source.slice(0, start).split('\n').length
    const mutated = source.slice(0, start) + becomes + source.slice(start + was.length)
    mutants.push({ kind, line, table: '', was, becomes, source: mutated })
  }
  const tables = withoutImports(source)
  const entries = entriesOf(tables)
  for (const entry of entries) nameMutants(entry, source, propose)
  for (const [at, entry] of entries.entries()) exchangeMutant(entry, entries.slice(at + 1), source, propose)
  literalMutants(tables, propose)
  lineMutants(tables, propose)
  return mutants
}

/** Imports and comments as blanks, so that positions stay the same. */
function withoutImports(source: string): string {
  return source.replace(/^import [^\n]*$|\/\*[\s\S]*?\*\/|^\s*\/\/[^\n]*$|<'[^']*'(?: \| '[^']*')*>/gm, (text) =>
    text.replace(/[^\n]/g, ' '),
  )
}

interface Open {
  readonly bracket: string
  readonly start: number
  entry: { readonly name: Token | undefined; readonly start: number } | undefined
  isAtStart: boolean
}

/** The members of every object, those without a value of their own and spreads too. */
function entriesOf(tables: string): readonly Entry[] {
  const entries: Entry[] = []
  const open: Open[] = []
  const finish = (end: number): void => {
    const object = open.at(-1)
    if (object?.bracket !== '{' || !object.entry) return
    entries.push({ ...object.entry, end, object: object.start })
    object.entry = undefined
  }
  let end = 0
  for (const { 0: text, index } of tables.matchAll(tokenPattern)) {
    const innermost = open.at(-1)
    if ('{[('.includes(text)) open.push({ bracket: text, start: index, entry: undefined, isAtStart: true })
    else if ('}])'.includes(text)) {
      finish(end)
      open.pop()
    } else if (text === ',') {
      finish(end)
      if (innermost) innermost.isAtStart = true
    } else if (innermost?.bracket === '{' && innermost.isAtStart) {
      innermost.entry = { name: text === '...' ? undefined : { text, start: index }, start: index }
      innermost.isAtStart = false
    }
    end = index + text.length
  }
  return entries
}

function nameMutants({ name, start, end }: Entry, source: string, propose: Propose): void {
  const whole = source.slice(start, end)
  propose('missing entry', start, `${whole}${source[end] === ',' ? ',' : ''}`, '')
  if (!name) return
  const isShort = name.text.length === whole.length
  propose('wire name', name.start, name.text, isShort ? `${name.text}X: ${name.text}` : `${name.text}X`)
}

/** Two neighbours that carry each other's value. */
function exchangeMutant(first: Entry, later: readonly Entry[], source: string, propose: Propose): void {
  const second = later.find((candidate) => candidate.object === first.object)
  if (!first.name || !second?.name) return
  const isShort = [first, second].some(({ name, start, end }) => name?.text.length === end - start)
  if (isShort || source.slice(first.start, second.start).includes('{')) return
  const withoutName = ({ name, start, end }: Entry): string => source.slice(start + (name?.text.length ?? 0), end)
  if (withoutName(first) === withoutName(second)) return
  const between = source.slice(first.start + first.name.text.length, second.start)
  const was = `${first.name.text}${between}${second.name.text}`
  propose('domain field', first.start, was, `${second.name.text}${between}${first.name.text}`)
}

function literalMutants(tables: string, propose: Propose): void {
  for (const { 0: text, index } of tables.matchAll(/'[^'\n]*'/g)) {
    propose('word', index, text, `${text.slice(0, -1)}X'`)
    if (/^'(?:GET|POST) /.test(text))
      propose('method', index, text, text.startsWith("'GET") ? text.replace('GET', 'POST') : text.replace('POST', 'GET'))
    if (text.includes('/{')) propose('path', index, text, text.replace('/{', 'X/{'))
  }
  for (const { 0: text, index } of tables.matchAll(/\b(?:true|false|\d+)\b(?=[,)\s])/g)) {
    propose('constant', index, text, text === 'true' ? 'false' : text === 'false' ? 'true' : String(Number(text) + 1))
  }
}

/** A line that is marked otherwise, in another notation, or under another condition. */
function lineMutants(tables: string, propose: Propose): void {
  for (const { 0: text, 1: field = '', index } of tables.matchAll(new RegExp(`\\b(?:${markers})\\(('\\w+')\\)`, 'g')))
    propose('presence', index, text, field)
  for (const { 0: text, 1: field = '', index } of tables.matchAll(
    /(?<=\w: |\b(?:text|words|lowerCase|zoned|fallback)\()('\w+')(?=[,)\s])/g,
  ))
    propose('presence', index, text, `optional(${field})`)
  const notation = new RegExp(`\\b(?:${notations})\\(((?:\\w+\\()?'\\w+'\\)?)(?:, (?:'[^']*'|\\w+|\\{[^}]*\\}))?\\)`, 'g')
  for (const { 0: text, 1: inner = '', index } of tables.matchAll(notation)) propose('notation', index, text, withoutHalf(inner))
  for (const { 0: text, index } of tables.matchAll(/\bisO(?:n|ffFor)(?=\('\w+)/g))
    propose('notation', index, text, text === 'isOn' ? 'isOffFor' : 'isOn')
  for (const { 0: text, 1: field, 2: condition = '', index } of tables.matchAll(
    /\boptional\(('\w+'), (\([^)]*\) => [^\n]*)\)(?=,\n)/g,
  )) {
    propose('condition', index, text, `optional(${field})`)
    propose('condition', index, text, `optional(${field}, ${condition.replace(/=> (.*)$/s, '=> !($1)')})`)
  }
}

/** `'field')` where the notation had nothing else inside is `'field'`. */
function withoutHalf(inner: string): string {
  return inner.includes('(') ? inner : inner.replace(/\)$/, '')
}
