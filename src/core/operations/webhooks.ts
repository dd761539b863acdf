/** Webhooks of accounts, as a person adds, changes and reads them (docs/contract.md §18.3). */
import { Fault } from '../../domain/fault.ts'
import { toIso } from '../../domain/instant.ts'
import { formatTransactionId } from '../../domain/swap.ts'
import { type AllowedTargets, mayLeadTo, parseWebhookUrl } from '../../domain/webhook-target.ts'
import type {
  Attempt,
  Delivery,
  DeliveryCounts,
  EncodeChange,
  SecretBox,
  SendWebhook,
  Webhook,
  WebhookStore,
} from '../ports/webhooks.ts'
import type { AuditLog } from './audit.ts'
import { shortened } from './transaction-row.ts'

export interface WebhookPorts {
  readonly webhooks: WebhookStore
  readonly secrets: SecretBox
  /** A new secret, as receivers get it. */
  readonly makeSecret: () => string
  /** The operator, for the audit log. */
  readonly actor: string
}

export const webhookUrlRule = 'an https URL without credentials and fragment'
export const missingKeyMessage = 'webhooks.key is not set, and a secret is not stored without one'

/** A webhook whose secret is shown this once. */
export interface WithSecret {
  readonly webhook: Webhook
  readonly secret: string
}

/**
 * Undefined: no account has the name. Throws 400 for a URL that no attempt would call: it is no URL of a webhook, or its address is not
 * public. Throws 409 where there is no key to encrypt with.
 */
export async function addWebhook(
  { webhooks, secrets, makeSecret, actor }: WebhookPorts,
  { account, url, form }: Pick<Webhook, 'account' | 'url' | 'form'>,
  allowed: AllowedTargets,
): Promise<WithSecret | undefined> {
  requireKey(secrets)
  const parsed = parseWebhookUrl(url)
  if (!parsed) throw refusedUrl(`it must be ${webhookUrlRule}`)
  if (!mayLeadTo(parsed, allowed))
    throw refusedUrl(
      parsed.protocol === 'http:'
        ? 'only https is open; webhooks.allow opens a host for http'
        : 'its address is not public; webhooks.allow opens networks',
    )
  const id = `wh_${crypto.randomUUID().replaceAll('-', '')}`
  const secret = makeSecret()
  const added = await webhooks.add(
    { id, account, url: parsed.href, form, secret: secrets.seal(secret, id), createdAt: Date.now() },
    actor,
  )
  return added && { webhook: added, secret }
}

function refusedUrl(why: string): Fault {
  return new Fault('invalid', `Invalid url: ${why}.`, { reason: 'body_invalid' })
}

function requireKey({ canSeal }: SecretBox): void {
  if (!canSeal) throw new Fault('inProgress', `${missingKeyMessage}.`, { reason: 'refused' })
}

export const defaultOverlapMs = 86_400_000
const maxOverlapMs = 7 * 86_400_000
export const overlapRule = 'like 30m, 24h or 7d, or a number of seconds, at most 7d; 0 ends the old secret now'

export function isOverlap(milliseconds: number): boolean {
  return milliseconds <= maxOverlapMs
}

/** Gives the webhook another secret; the old one signs too for `overlapMs`. Undefined: there is no such webhook. */
export async function rotateWebhook(
  { webhooks, secrets, makeSecret, actor }: WebhookPorts,
  id: string,
  overlapMs = defaultOverlapMs,
): Promise<WithSecret | undefined> {
  requireKey(secrets)
  const secret = makeSecret()
  const now = Date.now()
  if (!(await webhooks.rotate(id, secrets.seal(secret, id), now, now + overlapMs, actor))) return undefined
  const webhook = await webhooks.find(id)
  return webhook && { webhook, secret }
}

/** As JSON, for the commands and the operator's API. */
export function webhookRow(
  { id, account, url, form, state, createdAt, previous, heldAt }: Webhook,
  now: number,
  counts?: DeliveryCounts,
) {
  const isOverlapping = previous !== undefined && previous.until > now
  const row = {
    id,
    account,
    url,
    form,
    state,
    createdAt: toIso(createdAt),
    heldAt: toIso(heldAt) ?? null,
    oldSecretEndsAt: isOverlapping ? toIso(previous.until) : null,
  }
  return { ...row, ...counts }
}

export function newWebhookRow({ webhook, secret }: WithSecret, now: number) {
  return { ...webhookRow(webhook, now), secret }
}

export function deliveryRow({ id, webhook, provider, providerId, state, attempts, createdAt, endedAt }: Delivery) {
  return {
    ...{ id, webhook, transaction: formatTransactionId(provider, providerId), state },
    ...{ createdAt: toIso(createdAt), endedAt: toIso(endedAt) ?? null },
    attempts: attempts.map(({ at, reason, ...attempt }) => ({
      at: toIso(at),
      ...attempt,
      ...(reason !== undefined && { reason }),
    })),
  }
}

export function attemptRow({ at, status, ms, body, reason }: Attempt) {
  return { at: toIso(at), status, ms, body, ...(reason !== undefined && { reason }) }
}

/** Sends a webhook something that is no change, outside of all queues. Undefined: there is no such webhook. */
export async function testWebhook(
  { webhooks, audit, actor }: Pick<WebhookPorts, 'webhooks' | 'actor'> & { readonly audit: AuditLog },
  id: string,
  send: SendWebhook,
): Promise<Attempt | undefined> {
  const webhook = await webhooks.find(id)
  if (!webhook) return undefined
  await audit.append({ actor, action: 'webhook.test', subject: id })
  const body = JSON.stringify({ type: 'webhook.test', timestamp: new Date().toISOString(), data: {} })
  return await send(webhook, `${id}_test_${crypto.randomUUID().replaceAll('-', '')}`, body)
}

/** Sends a delivery again, now and beside its queue. Undefined: there is none, or its webhook is not active. */
export async function replayDelivery(
  { webhooks, audit, actor }: Pick<WebhookPorts, 'webhooks' | 'actor'> & { readonly audit: AuditLog },
  id: string,
  send: SendWebhook,
  encode: EncodeChange,
): Promise<{ readonly webhook: Webhook; readonly body: string; readonly attempt: Attempt } | undefined> {
  const found = await webhooks.findToReplay(id, encode)
  if (!found) return undefined
  await audit.append({ actor, action: 'webhook.replay', subject: id })
  const attempt = await send(found.webhook, id, found.body)
  await webhooks.recordReplay(id, attempt)
  return { ...found, attempt }
}

/** Of one page. */
export const maxDeliveries = 1_000

// What is shown to whom may not see whole URLs and addresses. The path and the query of a URL often are its secret.

const keptCharacters = 3

/** The origin, and the first characters of the path. */
export function shortenedUrl(url: string): string {
  const { origin, pathname, search } = new URL(url)
  const kept = pathname.slice(0, 1 + keptCharacters)
  return `${origin}${kept}${kept === pathname && search === '' ? '' : '…'}`
}

const leastPart = 5
const addressLike = /[\w:-]{25,}/g

/**
 * Shortens attempts at this URL: a receiver may send back the addresses that it got, and the path and query that it was called by.
 * `secret`: a part of the id that was sent, which moves money at the provider.
 */
export function attemptShortener(url: string): (attempt: Attempt, secret?: string) => Attempt {
  const ofUrl = partsOf(url)
  return (attempt, secret) => {
    if (attempt.body === null) return attempt
    const parts = secret === undefined ? ofUrl : [secret, ...ofUrl]
    let { body } = attempt
    for (const part of parts) body = body.replaceAll(part, `${part.slice(0, keptCharacters)}…`)
    return { ...attempt, body: withoutBegun(body, parts).replace(addressLike, shortened) }
  }
}

/** Each part of the path and the query that may be a secret, as sent and decoded; the longest first. */
function partsOf(url: string): readonly string[] {
  const { pathname, search } = new URL(url)
  const sent = [...pathname.split('/'), ...search.slice(1).split(/[&=]/)]
  const parts = new Set([...sent, ...sent.map(decoded)])
  return [...parts].filter(({ length }) => length >= leastPart).toSorted((one, other) => other.length - one.length)
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A body is kept up to a length: its end may be the beginning of a part. */
function withoutBegun(body: string, parts: readonly string[]): string {
  for (const part of parts) {
    const least = part.slice(0, leastPart)
    for (let at = body.indexOf(least); at >= 0; at = body.indexOf(least, at + 1))
      if (part.startsWith(body.slice(at))) return `${body.slice(0, at + keptCharacters)}…`
  }
  return body
}
