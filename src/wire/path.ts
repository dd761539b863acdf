/** Paths with at most one parameter, which is their last segment: `/transactions/{id}`. */

export interface PathPattern {
  readonly pattern: string
  readonly parameters: ReadonlySet<string>
  /** The parameters of a path that fits exactly, decoded; undefined where it does not fit. */
  readonly match: (path: string) => Readonly<Record<string, string>> | undefined
  /** The path with its parameters as single, percent-encoded segments. */
  readonly fill: (parameters: Readonly<Record<string, string>>) => string
}

const none = {}

export function compilePath(pattern: string): PathPattern {
  const [, fixed = pattern, name] = /^(.*\/)\{(\w+)\}$/.exec(pattern) ?? []
  if (name === undefined) {
    return { pattern, parameters: new Set(), match: (path) => (path === pattern ? none : undefined), fill: () => pattern }
  }
  return {
    pattern,
    parameters: new Set([name]),
    match: (path) => (path.startsWith(fixed) ? parameter(name, path.slice(fixed.length)) : undefined),
    fill: (parameters) => fixed + encodeURIComponent(parameters[name] ?? ''),
  }
}

/** A segment that does not decode fits no path. */
function parameter(name: string, segment: string): Record<string, string> | undefined {
  if (segment.includes('/')) return undefined
  try {
    return { [name]: segment.includes('%') ? decodeURIComponent(segment) : segment }
  } catch {
    return undefined
  }
}
