/** re2js: the operator's patterns run on clients' input. RE2 takes linear time, so no input makes a pattern slow. */
import { RE2JS } from 're2js'
import type { Pattern } from '../domain/address/rule.ts'

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
