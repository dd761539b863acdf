/** Webhooks while an integrator writes their receiver: signed here, with a secret that is printed. No webhook is made, so that nothing is left at the end. */
import { setTimeout as wait } from 'node:timers/promises'
import { postWebhook } from '../adapters/webhook-connection.ts'
import { makeWebhookSecret, signedHeaders } from '../adapters/webhook-crypto.ts'
import type { TransactionEvent } from '../core/ports/transaction-events.ts'
import { type Attempt, isSuccess } from '../core/ports/webhooks.ts'
import { toIso } from '../domain/instant.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { parseWebhookUrl } from '../domain/webhook-target.ts'
import { responseExample } from '../edges/openapi/schemas.ts'
import { formNamed } from '../forms/index.ts'
import { changeEncoder } from '../gateway/webhook-bodies.ts'
import { freshLookup } from '../process/name-lookup.ts'
import { version } from '../process/version.ts'
import type { ExitCode, Session } from './session.ts'
import { refuse } from './terminal.ts'

const pollMs = 1_000
const maxRows = 100

export interface ListenOptions {
  readonly forwardTo?: string
  readonly form?: string
}

/** Until SIGINT or SIGTERM: prints each change of the account's swaps as a webhook gets it, and sends it to `forwardTo`, once. */
export async function listenForWebhooks(account: string, options: ListenOptions, session: Session): Promise<ExitCode> {
  const { stores, config, terminal } = session
  const { forwardTo, form = formNamed(config.defaultForm).name } = options
  const owner = await stores.accounts.accountId(account)
  if (owner === undefined) return refuse(`no account has the name ${account}`, terminal)
  if (forwardTo !== undefined && !parseWebhookUrl(forwardTo)) return refuse(urlRule, terminal)
  const secret = makeWebhookSecret()
  const webhook = `wh_${crypto.randomUUID().replaceAll('-', '')}`
  const encode = changeEncoder(config.assets)
  const ended = new AbortController()
  const end = (): void => ended.abort()
  process.once('SIGINT', end).once('SIGTERM', end)
  try {
    let { last } = await stores.events.rangeOfOwner(owner)
    terminal.out(`secret  ${secret}`)
    terminal.err(`the changes of ${account} from now on, in Form ${form}; Ctrl-C ends it`)
    while (!ended.signal.aborted) {
      const rows = await stores.events.ofOwner(owner, last, maxRows)
      for (const row of rows) {
        last = row.number ?? last
        const { provider, transaction } = row.entry
        const latest = await stores.ledger.find(owner, provider, transaction.id)
        const { body } = encode({ at: row.at, entry: row.entry, latest }, form)
        const attempt = forwardTo === undefined ? undefined : await post(forwardTo, secret, `${webhook}_${last}`, body)
        terminal.out(lineOf(row, attempt))
        terminal.out(body)
      }
      if (rows.length < maxRows) await wait(pollMs, undefined, { signal: ended.signal }).catch(() => {})
    }
  } finally {
    process.off('SIGINT', end).off('SIGTERM', end)
  }
  return 0
}

function lineOf({ at, entry: { provider, transaction } }: TransactionEvent, attempt: Attempt | undefined): string {
  const change = `${toIso(at)} ${formatTransactionId(provider, transaction.id)} ${transaction.status ?? '-'}`
  return attempt ? `${change}: ${answerOf(attempt)}` : change
}

function answerOf({ status, reason, ms }: Attempt): string {
  return `${status ?? reason} after ${ms} ms`
}

/** Sends one of each type to a receiver, with an example for a swap. Returns 1 if it does not take all. */
export async function triggerWebhooks(
  url: string,
  { form: named, secret = makeWebhookSecret() }: { readonly form?: string; readonly secret?: string },
  { config, terminal }: Session,
): Promise<ExitCode> {
  if (!parseWebhookUrl(url)) return refuse(urlRule, terminal)
  const form = formNamed(named ?? config.defaultForm)
  const examples = {
    'webhook.test': {},
    'transaction.updated': responseExample(form.operations.getTransaction, form),
  }
  terminal.out(`secret  ${secret}`)
  let isTaken = true
  for (const [type, data] of Object.entries(examples)) {
    const body = JSON.stringify({ type, timestamp: new Date().toISOString(), data })
    const attempt = await post(url, secret, `wh_trigger_${crypto.randomUUID()}`, body)
    terminal.out(`${type}: ${answerOf(attempt)}`)
    isTaken &&= isSuccess(attempt)
  }
  return isTaken ? 0 : 1
}

const urlRule = 'the URL must be http:// or https://, without a user and without #'

/** A person names the receiver here: it may be anywhere. */
const everywhere = { hasHttpHost: () => true, hasAddress: () => true }

function post(url: string, secret: string, id: string, body: string): Promise<Attempt> {
  const headers = { ...signedHeaders(id, Math.floor(Date.now() / 1_000), body, [secret]), 'user-agent': `swapgate/${version}` }
  return postWebhook({ url, headers, body }, { lookup: freshLookup, allowed: everywhere })
}
