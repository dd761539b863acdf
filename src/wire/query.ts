/** Query strings, strictly: every name once, every value whole. */
import { WireError } from './wire-error.ts'

const encoded = /[%+]/

/** Calls `take` for each parameter. Throws a `WireError` for broken escapes and text that is not UTF-8. */
export function parseQuery(query: string, onParameter: (name: string, value: string) => void): void {
  if (query === '') return
  for (const pair of query.split('&')) {
    const at = pair.indexOf('=')
    if (at < 0) onParameter(decode(pair), '')
    else onParameter(decode(pair.slice(0, at)), decode(pair.slice(at + 1)))
  }
}

export function printQuery(parameters: readonly (readonly [string, string])[]): string {
  return parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join('&')
}

function decode(text: string): string {
  if (!encoded.test(text)) return text
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw new WireError('', 'the query must be percent-encoded UTF-8')
  }
}
