/** Paths with parameters: `/transactions/{id}`. Only one whose single parameter is its last segment can be matched. */

export interface PathPattern {
  readonly pattern: string
  readonly parameters: ReadonlySet<string>
  /** The decoded parameters of a matching path; undefined if it does not match. */
  readonly match: (path: string) => Readonly<Record<string, string>> | undefined
  /** The path with its parameters percent-encoded, so that none begins another segment. */
  readonly fill: (parameters: Readonly<Record<string, string>>) => string
}

const none = {}
const placeholder = /\{(\w+)\}/

export function compilePath(pattern: string): PathPattern {
  // Fixed texts and names of parameters, in turn.
  const pieces = pattern.split(placeholder)
  const parameters = new Set(pieces.filter((_, at) => at % 2 === 1))
  const [, fixed = '', last] = /^([^{]*\/)\{(\w+)\}$/.exec(pattern) ?? []
  return {
    pattern,
    parameters,
    match(path) {
      if (parameters.size === 0) return path === pattern ? none : undefined
      return last !== undefined && path.startsWith(fixed) ? parameter(last, path.slice(fixed.length)) : undefined
    },
    fill(values) {
      if (last !== undefined) return fixed + encodeURIComponent(values[last] ?? '')
      return pieces.reduce((path, piece, at) => path + (at % 2 === 0 ? piece : encodeURIComponent(values[piece] ?? '')), '')
    },
  }
}

/** A segment that cannot be decoded matches no path. */
function parameter(name: string, segment: string): Record<string, string> | undefined {
  if (segment.includes('/')) return undefined
  // Not a literal with a computed name: V8 has no fast path for it.
  const parameters: Record<string, string> = {}
  try {
    parameters[name] = segment.includes('%') ? decodeURIComponent(segment) : segment
  } catch {
    return undefined
  }
  return parameters
}
