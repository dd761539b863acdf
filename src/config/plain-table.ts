/**
 * Reads an asset table that is written as `npm run assets` writes it: one line for each key of a coin, one for each network, in the plainest
 * YAML. The shipped table takes 1 to 4 ms of a process that has just begun, and 50 to 60 with a parser of all of YAML.
 */
import type { Tree } from './document.ts'

type Mapping = { [key: string]: Tree }

// What is not quoted begins with a letter or digit, and has no sign that means something else in YAML.
const item = /[ \t]*(?:([A-Za-z0-9](?:[A-Za-z0-9._+/-]|:(?=[A-Za-z0-9:]))*)|'([^'$\n]*)')/y
const key = /[ \t]*([a-z][A-Za-z]*): /y
const mark = /[ \t]*([[\]{},])/y
const coinLine = /^- coin: (?:([A-Za-z0-9][A-Za-z0-9._+/-]*)|'([^'$]*)')$/
const nameLine = /^ {2}name: ([A-Za-z0-9][A-Za-z0-9._+/-]*(?: [A-Za-z0-9(][A-Za-z0-9.()]*)*)$/
const alsoLine = /^ {2}also: (\[.*\])$/
const networkLine = /^ {4}- (\{.*\})$/
/** That is no text. */
const isNull = /^null$/

/** Four times the shipped table. A larger one is parsed in a thread, so that no request waits for it. */
const maxLength = 250_000
const maxDepth = 8

/** Undefined for whatever is written in any other way: then it is for the parser. What this reads, that one reads alike. */
export function readPlainTable(source: string): Tree[] | undefined {
  if (source.length > maxLength) return undefined
  const coins: Mapping[] = []
  let networks: Tree[] | undefined
  for (const line of source.split('\n')) {
    if (line === '' || line.startsWith('#')) continue
    const coin = coins.at(-1)
    const [, word, quoted = word] = coinLine.exec(line) ?? []
    if (quoted !== undefined) {
      if (word !== undefined && isNull.test(word)) return undefined
      if (coin && !networks?.length) return undefined
      coins.push({ coin: quoted })
      networks = undefined
      continue
    }
    if (!coin) return undefined
    const row = networks && flowIn(networkLine.exec(line)?.[1])
    if (row !== undefined) networks?.push(row)
    else if (networks || !addTo(coin, line)) return undefined
    else if (Array.isArray(coin.networks)) networks = coin.networks
  }
  return networks?.length ? coins : undefined
}

/** Whether the line is one of a coin's keys. */
function addTo(coin: Mapping, line: string): boolean {
  const name = nameLine.exec(line)?.[1]
  const also = flowIn(alsoLine.exec(line)?.[1])
  const [added, value]: readonly [string, Tree | undefined] =
    name !== undefined
      ? ['name', name]
      : also !== undefined
        ? ['also', also]
        : ['networks', line === '  networks:' ? [] : undefined]
  if (value === undefined || added in coin || (typeof value === 'string' && isNull.test(value))) return false
  coin[added] = value
  return true
}

/** A list or a mapping in one line. */
function flowIn(text: string | undefined): Tree | undefined {
  if (text === undefined) return undefined
  const reader = new FlowReader(text)
  const tree = reader.value()
  return reader.isAtEnd ? tree : undefined
}

class FlowReader {
  private at = 0
  private depth = 0
  private readonly text: string

  constructor(text: string) {
    this.text = text
  }

  get isAtEnd(): boolean {
    return this.at === this.text.length
  }

  value(): Tree | undefined {
    const found = this.take(item)
    if (found) return found[2] ?? (isNull.test(found[1] ?? '') ? undefined : found[1])
    const open = this.take(mark)?.[1]
    if (++this.depth > maxDepth) return undefined
    const tree = open === '[' ? this.list() : open === '{' ? this.mapping() : undefined
    this.depth--
    return tree
  }

  private list(): Tree[] | undefined {
    const items: Tree[] = []
    for (;;) {
      const next = this.value()
      if (next === undefined) return undefined
      items.push(next)
      const end = this.take(mark)?.[1]
      if (end === ']') return items
      if (end !== ',') return undefined
    }
  }

  private mapping(): Mapping | undefined {
    const entries: Mapping = {}
    for (;;) {
      const name = this.take(key)?.[1]
      const value = name === undefined ? undefined : this.value()
      if (name === undefined || value === undefined || Object.hasOwn(entries, name)) return undefined
      entries[name] = value
      const end = this.take(mark)?.[1]
      if (end === '}') return entries
      if (end !== ',') return undefined
    }
  }

  private take(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.at
    const found = pattern.exec(this.text) ?? undefined
    if (found) this.at = pattern.lastIndex
    return found
  }
}
