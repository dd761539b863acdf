/** What may be told of an error that nobody expected: where it came from, and nothing that a client or a provider sent. */

export interface ErrorFacts {
  readonly name: string
  readonly code?: string
  readonly message: string
  readonly stack: readonly string[]
}

const word = /^[A-Za-z0-9_]{1,64}$/
const frame = /^ {4}at [^\r\n]{1,300}$/
const maxFrames = 12
const maxMessageLength = 200
/** No word of a message is so long. */
const maxWordLength = 24
const minSecretLength = 6

/** Of what is behind a fault. */
export function causeOf(fault: { readonly cause?: unknown } | undefined): ErrorFacts | undefined {
  return fault?.cause === undefined ? undefined : describeError(fault.cause)
}

export function describeError(reason: unknown): ErrorFacts {
  if (!(reason instanceof Error)) return { name: typeof reason, message: '', stack: [] }
  const { name, message, stack = '' } = reason
  const code = 'code' in reason ? reason.code : undefined
  const hasCode = typeof code === 'string' && word.test(code)
  return {
    name: word.test(name) ? name : 'Error',
    ...(hasCode && { code }),
    message: redact(message),
    // Before the first frame stands the message again.
    stack: stack
      .replace(`${name}: ${message}`, '')
      .split('\n')
      .filter((line) => frame.test(line))
      .slice(0, maxFrames)
      .map((line) => line.trim()),
  }
}

/** Without what it quotes, and without whatever may be a key, an address, an amount or a host. */
function redact(message: string): string {
  return message
    .replaceAll(/"[^"]*"?/g, '"…"')
    .replaceAll(/\S+/g, (token) => (mayBeSecret(token) ? '…' : token))
    .slice(0, maxMessageLength)
}

function mayBeSecret(token: string): boolean {
  return token.length >= maxWordLength || (token.length >= minSecretLength && /[\d@]/.test(token))
}
