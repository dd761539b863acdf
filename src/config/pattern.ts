/** re2js: patterns of the operator run over the bytes of clients; with RE2 none of them takes long, whatever a client sends. */
import { RE2JS } from 're2js'
import type { Pattern } from '../domain/address/rule.ts'

/** It stands for the whole text. Undefined where it is no pattern of RE2, which has no look-around and no references back. */
export function toPattern(source: string): Pattern | undefined {
  try {
    const compiled = RE2JS.compile(source)
    return { source, matches: (text) => compiled.matches(text) }
  } catch {
    return undefined
  }
}
