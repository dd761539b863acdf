/**
 * Reads the webhooks of swapgate: beside `swapgate.ts`, with `standardwebhooks` of npm, which verifies them (https://www.standardwebhooks.com).
 */
import { Webhook, WebhookVerificationError } from 'standardwebhooks'
import type { Swap } from './swapgate.ts'

export interface ReceivedWebhook {
  /** The same each time that it is sent again: what you have handled under it, ignore. */
  readonly id: string
  readonly type: 'transaction.updated' | 'webhook.test'
  /** When it changed. */
  readonly timestamp: string
  /** As a get returns it; of a test empty. */
  readonly swap: Swap | undefined
}

/**
 * Reads a request that was sent to you. `body` is its text as it came: one that was parsed and printed again is another one.
 * `secrets`: yours, and while it is rotated the one before. Throws `WebhookVerificationError` for what swapgate did not sign.
 */
export function readWebhook(
  body: string,
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
  ...secrets: readonly string[]
): ReceivedWebhook {
  const sent = Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => (typeof value === 'string' ? [[name.toLowerCase(), value]] : [])),
  )
  verify(body, sent, secrets)
  const { type, timestamp, data } = JSON.parse(withTexts(body))
  return { id: sent['webhook-id'] ?? '', type, timestamp, swap: type === 'webhook.test' ? undefined : data }
}

function verify(body: string, headers: Record<string, string>, secrets: readonly string[]): void {
  for (const [at, secret] of secrets.entries()) {
    try {
      new Webhook(secret).verify(body, headers)
      return
    } catch (error) {
      if (at === secrets.length - 1) throw error
    }
  }
  throw new WebhookVerificationError('There is no secret to verify it with')
}

/** Amounts as texts, as the client has them: a number of JavaScript would lose their digits. Within a text a quote has a backslash before it. */
function withTexts(body: string): string {
  return body.replace(/(?<!\\)("(?:amount|amountTo|rate|fee|refundAmount|minAmount|maxAmount)":\s*)(-?[0-9][0-9.eE+-]*)/g, '$1"$2"')
}
