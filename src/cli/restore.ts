/**
 * `swapgate ledger mark-restored`, `rebuild` and `found`: after a backup of the ledger was restored (docs/contract-operators.md §10.6).
 * `mark-restored` prints what a person has to look at.
 */
import { setTimeout as delay } from 'node:timers/promises'
import type { Command } from 'commander'
import {
  assignOrder,
  dismissOrder,
  freeKey,
  type OrderDecision,
  type OrderResult,
  orderRow,
  rebuild,
  unassignOrder,
  undismissOrder,
} from '../core/operations/restore.ts'
import { noteRule, toNote } from '../core/operations/settle.ts'
import type { WithheldKey } from '../core/ports/restores.ts'
import { toIso, toTimestamp } from '../domain/instant.ts'
import { assignPorts, listReader, providerNames, providerTag } from '../process/ask-providers.ts'
import { isIntentIdOf } from '../provider/intent-id.ts'
import type { ExitCode, Session } from './session.ts'
import { changing, refuse, type Terminal } from './terminal.ts'
import { despiteOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const asTimestamp = parsedBy(toTimestamp, 'a date like 2026-11-20, or a time like 2026-11-20T08:00:00Z')
const asNote = parsedBy(toNote, noteRule)
const noteOption = ['--note <text>', 'the reason, for the audit log', asNote] as const

interface MarkOptions extends Options {
  readonly since?: number
  readonly end?: true
  /** True: all. */
  readonly webhooks?: true | readonly string[]
  readonly actions?: true
  readonly note?: string
}

interface AssignOptions extends Options, Omit<OrderDecision, 'key'> {
  /** False: `--no-key`. */
  readonly key?: string | false
}

interface FreeOptions extends Options {
  readonly account: string
  readonly note: string
}

interface NoteOptions extends Options {
  readonly note: string
}

interface ListOptions extends Options {
  readonly assigned?: true
  readonly dismissed?: true
  readonly keys?: true
}

type Add = (usage: string, description: string, parent?: Command) => Command
type Run = (options: Options, work: (session: Session) => Promise<ExitCode>) => Promise<void>

export function addRestore(ledger: Command, add: Add, run: Run): void {
  add('mark-restored [providers...]', 'say that a backup was restored: what was made since is looked for before anything new')
    .option('--since <date>', 'when the backup was made: orders from more than a day before are not looked for', asTimestamp)
    .option('--end', 'a person confirms that nothing is missing any more, by default at all providers')
    .option('--webhooks [ids...]', 'a person has looked at these webhooks, by default at all: what waits for them is sent')
    .option('--actions', 'a person knows what was done about swaps after the backup: refunds and the like go on')
    .option(...noteOption)
    .option(...jsonOption)
    .action((names: readonly string[], options: MarkOptions, command: Command) => {
      const { since, end: isEnd, webhooks, actions, note } = options
      const confirmed = [isEnd, webhooks, actions].filter((each) => each !== undefined).length
      if (confirmed === 0 && note !== undefined) command.error('error: --note requires --end, --webhooks or --actions')
      if (confirmed > 1 || (confirmed > 0 && since !== undefined))
        command.error('error: --since, --end, --webhooks and --actions exclude each other')
      if (!isEnd && names.length > 0) command.error('error: only --end takes providers: a restore is of all of them')
      if (webhooks !== undefined) return run(options, (session) => confirmWebhooks(webhooks, options, changing(session)))
      if (actions) return run(options, (session) => confirmActions(options, changing(session)))
      return run(options, (session) => (isEnd ? end(names, options, changing(session)) : mark(options, changing(session))))
    })
  add('rebuild <providers...>', 'read the whole lists of these providers, and keep what the ledger lacks of them')
    .option(...jsonOption)
    .action((names: readonly string[], options: Options) =>
      run(options, (session) => printRebuild(names, options, changing(session))),
    )
  const found = ledger.command('found').description('decide about the orders that a rebuild has found')
  add('list', 'list those that wait for a person', found)
    .option('--assigned', 'list those that are assigned, the last one first')
    .option('--dismissed', 'list those that are dismissed, the last one first')
    .option('--keys', 'list the Idempotency-Keys that returned an order until that was taken back')
    .option(...jsonOption)
    .action((options: ListOptions) => run(options, (session) => printFound(options, session)))
  add('assign <order>', 'the order is a swap of this account', found)
    .option('--account <name>', 'by default the one that the reference of the order names')
    .option('--key <key>', 'the Idempotency-Key of its create, which returns it from then on')
    .option('--no-key', 'no Idempotency-Key of its create is known')
    .option('--withdrawal-address <address>', 'where the swap pays out, as the client names it')
    .option('--unconfirmed', 'the client cannot be asked: what the provider says counts')
    .option(...despiteOption)
    .requiredOption(...noteOption)
    .action((id: string, options: AssignOptions, command: Command) => {
      const { key, withdrawalAddress, unconfirmed } = options
      if (key === undefined)
        command.error('error: --key <key> or --no-key is required: nobody but the client knows which create it was')
      if ((withdrawalAddress === undefined) === (unconfirmed === undefined))
        command.error('error: one of --withdrawal-address <address> and --unconfirmed is required')
      return run(options, (session) => assign(id, key === false ? null : key, options, changing(session)))
    })
  add('dismiss <order>', 'the order is no swap of a client', found)
    .requiredOption(...noteOption)
    .action((id: string, options: NoteOptions) => run(options, (session) => dismiss(id, options, changing(session))))
  add('unassign <order>', 'the order was assigned to a wrong account or key: both wait for a person again', found)
    .requiredOption(...noteOption)
    .action((id: string, options: NoteOptions) => run(options, (session) => unassign(id, options, changing(session))))
  add('undismiss <order>', 'the order was dismissed by mistake: it waits for a person again', found)
    .requiredOption(...noteOption)
    .action((id: string, options: NoteOptions) => run(options, (session) => undismiss(id, options, changing(session))))
  add('free <key>', 'a key that returned an order until that was taken back: its next create is a new one', found)
    .requiredOption('--account <name>', 'whose key it is')
    .requiredOption(...noteOption)
    .action((key: string, options: FreeOptions) => run(options, (session) => free(key, options, changing(session))))
}

async function mark({ since, json }: MarkOptions, { config, stores, terminal, actor }: Session): Promise<ExitCode> {
  if (config.auth.mode === 'passthrough')
    return refuse("auth.mode is passthrough: with the provider's own keys the provider knows whose each swap is", terminal)
  const configured = config.providers.map(({ tag }) => tag)
  const marked = await stores.restores.mark(configured, since, actor)
  if (marked.outcome === 'clockBehind')
    return refuse(
      'the clock says an earlier time than a row of the ledger has: correct it first, or numbers of events come again',
      terminal,
    )
  const { tags } = marked
  const restored = (await stores.restores.read()).filter(({ provider }) => tags.includes(provider))
  if (json) {
    terminal.out(JSON.stringify(restored.map(restoredRow)))
    return 0
  }
  terminal.out(`The ledger counts as restored at ${tags.join(', ')}.`)
  const names = config.providers.map(({ name }) => name)
  terminal.out(`Creates stop there until swapgate ledger rebuild ${names.join(' ')} has read their lists.`)
  const { webhooks } = await stores.restores.held()
  for (const line of toLookAt(webhooks)) terminal.out(line)
  return 0
}

/** What was changed after the backup is not in it. */
function toLookAt(webhooks: number): readonly string[] {
  const held = webhooks === 1 ? '1 webhook gets' : `${webhooks} webhooks get`
  return [
    'Look at what is as it was at the backup:',
    '  keys and accounts: swapgate keys list (keys that were revoked since are valid again)',
    `  webhooks, and their secrets: swapgate webhooks list (${held} nothing until swapgate ledger mark-restored --webhooks)`,
    '  refunds and the like of swaps that were made before: 409 until swapgate ledger mark-restored --actions',
    '  states, weights and the mirror: swapgate providers status',
  ]
}

async function confirmWebhooks(ids: true | readonly string[], { note, json }: MarkOptions, session: Session): Promise<ExitCode> {
  const { stores, terminal, actor } = session
  const confirmed = await stores.restores.confirmWebhooks(ids === true ? undefined : ids, note, actor)
  if (json) terminal.out(JSON.stringify({ confirmed }))
  else for (const id of confirmed) terminal.out(`What waits for the webhook ${id} is sent.`)
  const unknown = ids === true ? [] : ids.filter((id) => !confirmed.includes(id))
  if (unknown.length > 0) return refuse(`no webhook waits with the id ${unknown.join(', ')}`, terminal)
  return confirmed.length > 0 ? 0 : refuse('no webhook waits since a restore', terminal)
}

async function confirmActions({ note, json }: MarkOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const isConfirmed = await stores.restores.confirmActions(note, actor)
  if (json) terminal.out(JSON.stringify({ isConfirmed }))
  else if (isConfirmed) terminal.out('Refunds and the like of swaps that were made before the restore go on.')
  return isConfirmed ? 0 : refuse('no action waits since a restore', terminal)
}

function restoredRow(restored: Awaited<ReturnType<Session['stores']['restores']['read']>>[number]) {
  const { provider, restoredAt, since, readAt, undecided } = restored
  return { provider, restoredAt: toIso(restoredAt), since: toIso(since), readAt: toIso(readAt), undecided }
}

async function end(names: readonly string[], { note, json }: MarkOptions, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  const tags = names.map((name) => providerTag(name, config))
  const ended = await stores.restores.end(tags.length === 0 ? undefined : tags, note, actor)
  if (json) terminal.out(JSON.stringify({ ended }))
  else if (ended.length > 0) terminal.out(`The restore has ended at ${ended.join(', ')}: what the ledger lacks there is 404.`)
  return ended.length > 0 ? 0 : refuse(`no restore holds${names.length > 0 ? ` for ${names.join(', ')}` : ''}`, terminal)
}

async function printRebuild(names: readonly string[], { json }: Options, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  const providers = names.map((name) => config.providers.find((provider) => provider.name === name))
  const unknown = names.find((_, at) => !providers[at])
  if (unknown !== undefined) return refuse(`there is no provider ${unknown}; there are: ${providerNames(config)}`, terminal)
  const results: object[] = []
  let exitCode: ExitCode = 0
  for (const provider of providers.filter((each) => each !== undefined)) {
    const { name, tag } = provider
    await using open = new AsyncDisposableStack()
    const reader = await listReader(provider, config, stores.currencyLists, open)
    const report = (line: string): void => terminal.err(`swapgate: ${name}: ${line}`)
    const result = await rebuild(tag, { store: stores.restores, reader, isIntentIdOf, wait: delay, report, actor })
    results.push({ provider: tag, ...result })
    if (result.outcome !== 'done') exitCode = refuse(`${result.message}; what it found so far is kept`, terminal)
    else if (!json) for (const line of describe(name, result)) terminal.out(line)
  }
  if (json) terminal.out(JSON.stringify(results))
  return exitCode
}

function describe(name: string, { listed, missing, withoutDetails }: { listed: number; missing: number; withoutDetails: number }) {
  return [
    `${name}: its list was read whole, with ${listed} orders. Creates go on there.`,
    missing === 0
      ? 'The ledger lacks none of them.'
      : `The ledger lacks ${missing} of them: swapgate ledger found list. A create that may be one of them is 409.`,
    ...(withoutDetails > 0
      ? [`Of ${withoutDetails} of these it says no more than its list does; run this again for the rest.`]
      : []),
  ]
}

async function printFound({ assigned, dismissed, keys, json }: ListOptions, { stores, terminal }: Session): Promise<ExitCode> {
  const { restores } = stores
  if (keys) return printKeys(await restores.withheldKeys(), json, terminal)
  const read = assigned ? restores.assigned : dismissed ? restores.dismissed : restores.undecided
  const orders = (await read()).map(orderRow)
  if (json) {
    terminal.out(JSON.stringify(orders))
    return 0
  }
  const none = assigned ? 'is assigned' : dismissed ? 'is dismissed' : 'waits for a person'
  if (orders.length === 0) terminal.out(`No found order ${none}.`)
  else
    for (const line of formatTable([['order', 'created', 'status', 'account', 'swap'], ...orders.map(orderColumns)]))
      terminal.out(line)
  for (const { id, creates = [] } of orders)
    for (const { account, key, at } of creates)
      terminal.out(`${id} may be of the create with the key ${key} of ${account}, first sent at ${at}`)
  return 0
}

function printKeys(keys: readonly WithheldKey[], json: boolean | undefined, terminal: Terminal): ExitCode {
  if (json) terminal.out(JSON.stringify(keys))
  else if (keys.length === 0) terminal.out('No Idempotency-Key waits for a person.')
  else
    for (const line of formatTable([
      ['account', 'key', 'deposit address'],
      ...keys.map(({ account, key, hasShownAddress }) => [account, key, hasShownAddress ? 'shown by a response' : 'never shown']),
    ]))
      terminal.out(line)
  return 0
}

function orderColumns({ id, createdAt, status, account, ...order }: ReturnType<typeof orderRow>): readonly string[] {
  const [from, to] = [order.codeFrom ?? order.coinFrom ?? '?', order.codeTo ?? order.coinTo ?? '?']
  const swap = `${order.amountIn ?? '?'} ${from} to ${to} at ${order.withdrawalAddress ?? '?'}`
  return [id, createdAt ?? '', status ?? 'unknown', account ?? '', swap]
}

async function assign(id: string, key: string | null, options: AssignOptions, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  await using open = new AsyncDisposableStack()
  const { account, withdrawalAddress, unconfirmed, despite, note } = options
  const decision = { account, key, withdrawalAddress, unconfirmed, despite, note }
  const result = await assignOrder(id, decision, assignPorts(config, stores, actor, open))
  return print(result, (owner) => `${id} is now a swap of the account ${owner}.`, terminal)
}

async function dismiss(id: string, { note }: NoteOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  return print(
    await dismissOrder(id, note, stores.restores, actor),
    () => `${id} is dismissed: it is no swap of a client.`,
    terminal,
  )
}

async function unassign(id: string, { note }: NoteOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const sentence = (account: string): string => `${id} waits for a person again. ${account} may have seen it: say so there.`
  return print(await unassignOrder(id, note, stores.restores, actor), sentence, terminal)
}

async function undismiss(id: string, { note }: NoteOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  return print(await undismissOrder(id, note, stores.restores, actor), () => `${id} waits for a person again.`, terminal)
}

async function free(key: string, { account, note }: FreeOptions, { stores, terminal, actor }: Session): Promise<ExitCode> {
  const sentence = (): string => `The key ${key} of ${account} is free: its next create is a new one.`
  return print(await freeKey(account, key, note, stores.restores, actor), sentence, terminal)
}

function print(result: OrderResult, sentence: (account: string) => string, terminal: Terminal): ExitCode {
  if (result.outcome !== 'done') {
    const { message, contradictions = [] } = result
    return refuse(
      contradictions.length > 0 ? `${message}; --despite ${contradictions.join(',')} does it all the same` : message,
      terminal,
    )
  }
  for (const line of [sentence(result.account ?? ''), ...result.notes]) terminal.out(line)
  return 0
}
