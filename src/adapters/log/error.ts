/** What may be told of an error that nobody expected: where it came from, and nothing that a client or a provider sent. */

export interface ErrorFacts {
  readonly name: string
  readonly code?: string
  readonly message?: string
  readonly stack: readonly string[]
}

const word = /^[A-Za-z_][A-Za-z0-9_]{0,63}$/
/** The engine's own, which speak of the program and quote no data. */
const ownClasses: ReadonlySet<unknown> = new Set([TypeError, RangeError, ReferenceError])
const frame = /^ {4}at [^\r\n]{1,300}$/
const mostFrames = 12
const longestMessage = 200

/** Of what is behind a fault. */
export function causeOf(fault: { readonly cause?: unknown } | undefined): ErrorFacts | undefined {
  return fault?.cause === undefined ? undefined : factsOf(fault.cause)
}

export function factsOf(reason: unknown): ErrorFacts {
  if (!(reason instanceof Error)) return { name: typeof reason, stack: [] }
  const { name, code, message, stack = '' } = reason as NodeJS.ErrnoException
  const hasCode = typeof code === 'string' && word.test(code)
  const isOwn = ownClasses.has(reason.constructor) && code === undefined
  return {
    name: word.test(name) ? name : 'Error',
    ...(hasCode && { code }),
    ...(isOwn && { message: message.replaceAll(/[^\s()]{24,}/g, '…').slice(0, longestMessage) }),
    // Before the first frame stands the message again.
    stack: stack
      .replace(`${name}: ${message}`, '')
      .split('\n')
      .filter((line) => frame.test(line))
      .slice(0, mostFrames)
      .map((line) => line.trim()),
  }
}
