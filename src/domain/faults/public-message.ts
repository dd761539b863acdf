/** Sanitises a provider's message for clients (docs/contract.md §6). */
import type { AmountLimits } from './amount-limits.ts'
import type { Confidential } from './confidential.ts'

export const generalMessage = 'The request was refused; please check its parameters.'
const maxLength = 300
/** The cost of the patterns is quadratic in the length: the rest of a text is cut off. */
const maxInspectedLength = 1_000

const url = /[a-z][a-z0-9+.-]*:\/\//i
/** The end of a sentence without a space, as in `TRC20.Please`, is not a host. */
const host = /(?:^|[^\w.-])(?:[Ll]ocalhost|[A-Za-z][A-Za-z0-9-]*:\d{2,5}|(?:[A-Za-z0-9-]+\.)+(?:[a-z]{2,}|[A-Z]{2,}))(?![\w-])/
const mixedHost = /(?:[a-z0-9-]+\.){2,}[a-z]{2,}|[a-z0-9-]\.(?:com|net|org|io|dev|app|xyz|info|local|internal|lan)\b/i
const networkAddress = /(?:\d{1,3}\.){3}\d{1,3}|(?:[0-9a-f]{1,4}:){3,}|[0-9a-f]{0,4}::[0-9a-f]{0,4}/i
/** A crypto address, a key, a token: longer than any word, and with digits in it. */
const longRun = /(?=[A-Za-z_-]*\d)[A-Za-z0-9_-]{24,}/
const credential = /\b(?:bearer|api[-_ ]?key|authorization)\b\s*[:=]?\s*\S*\d/i
const sensitivePatterns = [url, host, mixedHost, networkAddress, longRun, credential]

/**
 * Returns at most 300 printable characters, or a general message if the text contains an address, a host, a URL, a credential, a
 * confidential word or the `secret`.
 */
export function publicMessage(text: string, confidential: Confidential, secret = ''): string {
  const printable = text
    .slice(0, maxInspectedLength)
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim()
  if (printable === '' || sensitivePatterns.some((pattern) => pattern.test(printable))) return generalMessage
  if (secret !== '' && text.toLowerCase().includes(secret.toLowerCase())) return generalMessage
  if (confidential.containsWord(printable) || confidential.containsWord(text)) return generalMessage
  return [...printable].slice(0, maxLength).join('')
}

/** Appends the limits of the amount to the message: both, or the one that there is where a provider may have only one. */
export function messageWithLimits(message: string, { minAmount, maxAmount }: AmountLimits): string {
  const parts = [minAmount && `minimum ${minAmount}`, maxAmount && `maximum ${maxAmount}`].filter(Boolean).join(', ')
  if (parts === '') return message
  return `${/[.!?]$/.test(message) ? message : `${message}.`} ${parts[0]?.toUpperCase()}${parts.slice(1)}.`
}
