/** Describes an unexpected error for the log: its origin, without data from clients or providers. */
import { rootCauseOf } from '../../domain/connect-failure.ts'
import type { Fault } from '../../domain/fault.ts'

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
/** Longer words of a message are removed: they may be keys or addresses. */
const maxWordLength = 24
const minSecretLength = 6

/** Describes the first cause of a fault that is no fault itself. Undefined if it has no cause. */
export function causeOf(fault: Fault | undefined): ErrorFacts | undefined {
  return fault?.cause === undefined ? undefined : describeError(rootCauseOf(fault))
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
    // The stack repeats the message before the first frame.
    stack: stack
      .replace(`${name}: ${message}`, '')
      .split('\n')
      .filter((line) => frame.test(line))
      .slice(0, maxFrames)
      .map((line) => line.trim()),
  }
}

/** Removes quoted text, and words that may be a key, an address, an amount or a host. */
function redact(message: string): string {
  return message
    .replaceAll(/"[^"]*"?/g, '"…"')
    .replaceAll(/\S+/g, (token) => (mayBeSecret(token) ? '…' : token))
    .slice(0, maxMessageLength)
}

function mayBeSecret(token: string): boolean {
  return token.length >= maxWordLength || (token.length >= minSecretLength && /[\d@]/.test(token))
}
