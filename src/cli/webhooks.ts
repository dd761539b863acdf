/** `swapgate webhooks`: where accounts are told of their swaps, and what they were told (docs/contract.md §18.3). */
import type { Command } from 'commander'
import { makeWebhookSecret, secretBox } from '../adapters/webhook-crypto.ts'
import { toDuration } from '../core/operations/duration.ts'
import { accountNameRule, toAccountName } from '../core/operations/keys.ts'
import {
  addWebhook,
  attemptRow,
  deliveryRow,
  isOverlap,
  maxDeliveries,
  newWebhookRow,
  overlapRule,
  replayDelivery,
  rotateWebhook,
  testWebhook,
  type WebhookPorts,
  type WithSecret,
  webhookRow,
} from '../core/operations/webhooks.ts'
import { type Attempt, type Delivery, isSuccess, type Webhook } from '../core/ports/webhooks.ts'
import { Fault } from '../domain/fault.ts'
import { toIso } from '../domain/instant.ts'
import { formatTransactionId } from '../domain/swap.ts'
import { allowedTargets } from '../domain/webhook-target.ts'
import { formNamed, forms } from '../forms/index.ts'
import { changeEncoder } from '../gateway/webhook-bodies.ts'
import { webhookSender } from '../process/webhook-sender.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { changing, printSecretFirst, refuse, type Terminal } from './terminal.ts'
import { configOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'
import { type ListenOptions, listenForWebhooks, triggerWebhooks } from './webhooks-listen.ts'

const asName = parsedBy(toAccountName, accountNameRule)
const formNames = forms.map(({ name }) => name)
const asForm = parsedBy(
  (text) => formNames.find((name) => name.toLowerCase() === text.toLowerCase()),
  `one of ${formNames.join(', ')}`,
)
const asSecret = parsedBy((text) => (/^whsec_[A-Za-z0-9+/]{43}=$/.test(text) ? text : undefined), 'a secret like whsec_…')
const asOverlap = parsedBy((text) => {
  const duration = toDuration(text)
  return duration !== undefined && isOverlap(duration) ? duration : undefined
}, overlapRule)

export function addWebhooks(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const webhooks = program.command('webhooks').description('tell accounts of their swaps by POST, and see what they were told')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, (session) => refusing(() => work(session), session)))
  webhooks
    .command('add')
    .description('add a webhook to an account; its secret is shown only once')
    .argument('<account>', 'the account, which has at least one key or limit', asName)
    .argument('<url>', 'where its swaps are posted to, https://…')
    .option('--form <form>', `the form of what is sent: ${formNames.join(', ')} (default: defaultForm)`, asForm)
    .option(...configOption)
    .option(...jsonOption)
    .action((account: string, url: string, options: Options & { readonly form?: string }) =>
      run(options, (session) => add(account, url, options, session)),
    )
  webhooks
    .command('list')
    .description('list all webhooks, oldest first, without their secrets')
    .option(...configOption)
    .option(...jsonOption)
    .action((options: Options) => run(options, (session) => list(options, session)))
  webhooks
    .command('show <id>')
    .description('show one webhook, and how many of its deliveries wait and have failed')
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: Options) => run(options, (session) => show(id, options, session)))
  webhooks
    .command('remove <id>')
    .description('end a webhook, with all that waits for it')
    .option(...configOption)
    .action((id: string, options: Options) => run(options, (session) => remove(id, changing(session))))
  webhooks
    .command('rotate <id>')
    .description('give a webhook another secret; during the overlap both sign')
    .option('--overlap <duration>', `how long the old secret signs too, ${overlapRule} (default: 24h)`, asOverlap)
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: Options & { readonly overlap?: number }) =>
      run(options, (session) => rotate(id, options, session)),
    )
  webhooks
    .command('test <id>')
    .description('send a webhook something that is no change, now; exit code 1 if it is not accepted')
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: Options) => run(options, (session) => test(id, options, changing(session))))
  webhooks
    .command('replay <delivery>')
    .description('send a delivery again, now; exit code 1 if it is not accepted')
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: Options) => run(options, (session) => replay(id, options, changing(session))))
  webhooks
    .command('deliveries <id>')
    .description(`list what a webhook was sent and is to be sent, newest first, ${maxDeliveries} at a time`)
    .option('--failed', 'only what has failed for good')
    .option('--after <delivery>', 'only what is older than this delivery: the next page')
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: DeliveryOptions) => run(options, (session) => listDeliveries(id, options, session)))

  webhooks
    .command('listen')
    .description('print what a webhook of an account would get, until Ctrl-C, and send it on; no webhook is made')
    .argument('<account>', 'the account', asName)
    .option('--forward-to <url>', 'the receiver, anywhere, like http://127.0.0.1:3000/swaps: each is sent there once')
    .option('--form <form>', `the form of what is sent: ${formNames.join(', ')} (default: defaultForm)`, asForm)
    .option(...configOption)
    .action((account: string, options: Options & ListenOptions) =>
      run(options, (session) => listenForWebhooks(account, options, session)),
    )
  webhooks
    .command('trigger <url>')
    .description('send a receiver one of each type, with an example of a swap; exit code 1 if it does not take all')
    .option('--secret <secret>', 'the secret that signs, like that of listen (default: a new one, which is printed)', asSecret)
    .option('--form <form>', `the form of what is sent: ${formNames.join(', ')} (default: defaultForm)`, asForm)
    .option(...configOption)
    .action((url: string, options: Options & { readonly secret?: string; readonly form?: string }) =>
      run(options, (session) => triggerWebhooks(url, options, session)),
    )
}

/** What a rule refuses is exit 1, with its message. */
async function refusing(work: () => Promise<ExitCode>, { terminal }: Session): Promise<ExitCode> {
  try {
    return await work()
  } catch (reason) {
    if (!(reason instanceof Fault) || reason.kind === 'internal') throw reason
    return refuse(reason.message.replace(/\.$/, ''), terminal)
  }
}

function portsOf({ stores: { webhooks }, config, actor }: Session): WebhookPorts {
  return { webhooks, secrets: secretBox(config.webhooks.key), makeSecret: makeWebhookSecret, actor }
}

async function add(
  account: string,
  url: string,
  { form, json }: Options & { readonly form?: string },
  session: Session,
): Promise<ExitCode> {
  const { config, terminal } = session
  const settings = { account, url, form: form ?? formNamed(config.defaultForm).name }
  const added = await addWebhook(portsOf(session), settings, allowedTargets(config.webhooks.allow))
  if (!added) return refuse(`no account has the name ${account}`, terminal)
  if (config.auth.mode !== 'managed')
    terminal.err(`warning: auth.mode is ${config.auth.mode}: webhooks are sent only with managed keys`)
  const { id } = added.webhook
  if (await printSecret(added, json, session)) {
    terminal.note(`the webhook ${id} of ${account} is added, and its secret was written`)
    return 0
  }
  const isRemoved = await session.stores.webhooks.remove(id, Date.now(), session.actor).catch(() => false)
  const end = isRemoved ? 'it is removed' : `it could not be removed either: swapgate webhooks remove ${id}`
  return refuse(`the secret of the webhook ${id} could not be written: ${end}`, terminal)
}

async function list({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const webhooks = await stores.webhooks.list()
  const now = Date.now()
  if (json) terminal.out(JSON.stringify(webhooks.map((webhook) => webhookRow(webhook, now))))
  else for (const line of formatTable([columns, ...webhooks.map(cellsOf)])) terminal.out(line)
  return 0
}

const columns = ['id', 'account', 'form', 'state', 'created', 'url']

function cellsOf({ id, account, form, state, createdAt, url }: Webhook): readonly string[] {
  return [id, account, form, state, toIso(createdAt), url]
}

async function show(id: string, { json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const webhook = await stores.webhooks.find(id)
  if (!webhook) return refuse(unknownId(id), terminal)
  const row = webhookRow(webhook, Date.now(), await stores.webhooks.counts(id))
  if (json) terminal.out(JSON.stringify(row))
  else for (const line of formatTable(Object.entries(row).map(([name, value]) => [name, `${value ?? '-'}`]))) terminal.out(line)
  return 0
}

async function remove(id: string, { stores, terminal, actor }: Session): Promise<ExitCode> {
  if (!(await stores.webhooks.remove(id, Date.now(), actor))) return refuse(unknownId(id), terminal)
  terminal.out(`The webhook ${id} is removed, with all that waited for it.`)
  return 0
}

async function rotate(id: string, { overlap, json }: Options & { readonly overlap?: number }, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  if (!(await stores.webhooks.find(id))) return refuse(unknownId(id), terminal)
  const ports = portsOf(session)
  if (ports.secrets.canSeal && !(await terminal.canWrite(json ? '{' : secretLabel)))
    return refuse(`the output cannot be written: the secret of ${id} is not rotated`, terminal)
  const rotated = await rotateWebhook(ports, id, overlap)
  if (!rotated) return refuse(unknownId(id), terminal)
  const { previous } = rotated.webhook
  const old = previous ? `The old secret signs too until ${toIso(previous.until)}.` : 'The old secret signs no more.'
  if (!(await printSecret(rotated, json, session)))
    return refuse(`the webhook ${id} has a new secret, which could not be written: rotate it again. ${old}`, terminal)
  terminal.note(`the webhook ${id} has a new secret, which was written. ${old}`)
  if (!json) terminal.out(old)
  return 0
}

async function test(id: string, { json }: Options, session: Session): Promise<ExitCode> {
  const { stores, config, actor, terminal } = session
  const attempt = await testWebhook({ ...stores, actor }, id, webhookSender(config))
  return attempt ? printAttempt(attempt, json, session) : refuse(unknownId(id), terminal)
}

async function replay(id: string, { json }: Options, session: Session): Promise<ExitCode> {
  const { stores, config, actor, terminal } = session
  const replayed = await replayDelivery({ ...stores, actor }, id, webhookSender(config), changeEncoder(config.assets))
  return replayed
    ? printAttempt(replayed.attempt, json, session)
    : refuse(`no delivery of an active webhook has the id ${id}`, terminal)
}

function printAttempt(attempt: Attempt, isJson = false, { terminal }: Session): ExitCode {
  const { status, ms, body, reason } = attempt
  if (isJson) terminal.out(JSON.stringify(attemptRow(attempt)))
  else terminal.out(`${status ?? reason} after ${ms} ms${body ? `: ${body}` : ''}`)
  return isSuccess(attempt) ? 0 : 1
}

async function listDeliveries(
  id: string,
  { failed = false, after, json = false }: DeliveryOptions,
  { stores, terminal }: Session,
): Promise<ExitCode> {
  if (!(await stores.webhooks.find(id))) return refuse(unknownId(id), terminal)
  const { parts, next } = await stores.webhooks.deliveries(id, { onlyFailed: failed, after, size: maxDeliveries })
  const rows = (await Array.fromAsync(parts)).flat()
  if (json) terminal.out(JSON.stringify(rows.map(deliveryRow)))
  else for (const line of formatTable([deliveryColumns, ...rows.map(deliveryCells)])) terminal.out(line)
  if (next !== undefined) terminal.err(`there are older ones: --after ${next}`)
  return 0
}

type DeliveryOptions = Options & { readonly failed?: boolean; readonly after?: string }

const deliveryColumns = ['id', 'transaction', 'state', 'created', 'attempts', 'last status', 'ms']

function deliveryCells({ id, provider, providerId, state, createdAt, attempts }: Delivery): readonly string[] {
  const last = attempts.at(-1)
  const outcome = last === undefined ? ['-', '-'] : [`${last.status ?? last.reason}`, `${last.ms}`]
  return [id, formatTransactionId(provider, providerId), state, toIso(createdAt), `${attempts.length}`, ...outcome]
}

const secretLabel = 'secret'

/** Whether the line with the secret was written. */
async function printSecret(added: WithSecret, isJson = false, { terminal }: Session): Promise<boolean> {
  const { webhook, secret } = added
  const { id, account, url, form } = webhook
  const facts = { [secretLabel]: secret, id, account, url, form }
  const [first = '', ...rest] = isJson
    ? [JSON.stringify(newWebhookRow(added, Date.now()))]
    : [...formatTable(Object.entries(facts)), 'The secret is not shown again: the ledger has it encrypted.']
  return await printSecretFirst(first, rest, terminal)
}

function unknownId(id: string): string {
  return `no webhook has the id ${id}`
}
