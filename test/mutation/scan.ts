/** Finds the tables of a form in its source. A form is data, so a few tokens are enough to parse it. */

/** One `name: value` of a table, by position in the source. */
export interface Member {
  readonly name: string
  readonly start: number
  /** The value, without the comma after it. */
  readonly value: string
  readonly valueStart: number
  /** The keys of the objects around it, the outermost first; `''` for an object that has no key. */
  readonly within: readonly string[]
}

const token = /\/\*[\s\S]*?\*\/|\/\/.*|^import .*$|'[^'\n]*'|[A-Za-z_]\w*(?=:)|[A-Za-z_]\w*(?= = \{)|[{}]/gm

/** Every member of every object in the source, in the order in which they stand. */
export function scanMembers(source: string): readonly Member[] {
  const members: Member[] = []
  const within: string[] = []
  let key = ''
  for (const { 0: text, index } of source.matchAll(token)) {
    if (text === '{') {
      within.push(key)
      key = ''
    } else if (text === '}') {
      within.pop()
    } else if (text.startsWith("'")) {
      key = ''
    } else if (/^\w/.test(text) && !text.startsWith('import ')) {
      key = text
      if (source[index + text.length] === ':') members.push(toMember(source, text, index, within))
    }
  }
  return members
}

function toMember(source: string, name: string, start: number, within: readonly string[]): Member {
  const valueStart = start + name.length + 2
  const value = source.slice(valueStart, endOfValue(source, valueStart))
  return { name, start, value, valueStart, within: [...within] }
}

/** A value ends at a comma or a closing bracket of the object that it stands in. */
function endOfValue(source: string, from: number): number {
  let depth = 0
  let isQuoted = false
  for (let at = from; at < source.length; at++) {
    const character = source[at] as string
    if (character === "'") isQuoted = !isQuoted
    else if (isQuoted) continue
    else if ('({['.includes(character)) depth++
    else if (depth === 0 && ',})'.includes(character)) return source[at - 1] === ' ' ? at - 1 : at
    else if (')}]'.includes(character)) depth--
    else if (depth === 0 && character === '\n') return at
  }
  return source.length
}

/** True for a member whose name is a wire name: of a request, a response, an envelope or an error. */
export function isWire({ within }: Member): boolean {
  const [outermost, next] = within
  if (within.includes('request') || within.includes('response')) return true
  return outermost === '' ? next === 'page' || next === 'error' : within.length === 1 && outermost !== undefined
}
