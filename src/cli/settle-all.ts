/** `swapgate ledger settle-all`: many creates or transactions with one confirmation (docs/contract-operators.md §15). */
import { type Command, Option } from 'commander'
import { toSince } from '../core/operations/duration.ts'
import { noteRule, toNote } from '../core/operations/settle.ts'
import {
  type LeftRow,
  previewSettlement,
  type SettlementPreview,
  settleNext,
  type WantedSettlement,
} from '../core/operations/settle-many.ts'
import { type SettlementOutcome, settledStatuses } from '../core/ports/ledger-admin.ts'
import { settlementPorts } from '../process/ask-providers.ts'
import type { ExitCode, Session } from './session.ts'
import { changing, refuse } from './terminal.ts'
import { formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const times = 'a date, a time like 2026-11-20T08:00:00Z, or a duration back from now like 2h'
const asSince = parsedBy(toSince, times)

interface SettleAllOptions extends Options {
  readonly provider?: string
  readonly account?: string
  readonly since?: number
  readonly until?: number
  readonly reason?: string
  readonly none?: boolean
  readonly accept?: boolean
  readonly status?: SettlementOutcome
  readonly note?: string
  readonly confirm?: string
}

export function addSettleAll(
  command: Command,
  run: (options: Options, work: (session: Session) => Promise<ExitCode>) => Promise<void>,
): void {
  command
    .option('--provider <name>', 'the provider that the decision is about')
    .option('--account <name>', 'only of this account')
    .option('--since <time>', `only attempted or created since: ${times}`, asSince)
    .option('--until <time>', `only attempted or created before: ${times}`, asSince)
    .option('--reason <reason>', 'only what needs a person for this reason, as in the list of swapgate ledger unknown')
    .option('--none', 'of creates: nothing was created')
    .option('--accept', 'of creates: the responses that contradicted the requests count after all')
    .addOption(new Option('--status <status>', 'of transactions that need a person: what became of them').choices(settledStatuses))
    .option('--note <text>', 'the reason, for the audit log', parsedBy(toNote, noteRule))
    .option('--confirm <number-code>', 'settles what was shown, as the last line of it says')
    .option(...jsonOption)
    .action(({ confirm, ...options }: SettleAllOptions, usage: Command) => {
      const { json: _, config: __, ...wanted } = options
      if (confirm !== undefined) {
        if (Object.keys(wanted).length > 0) usage.error('error: --confirm takes no other option than --json and --config')
        return run(options, (session) => settleConfirmed(confirm, options, changing(session)))
      }
      const outcomes = [wanted.none && 'none', wanted.accept && 'accept', wanted.status] as const
      const [outcome, ...others] = outcomes.filter((each) => each !== undefined && each !== false)
      const { provider, note } = wanted
      if (outcome === undefined || others.length > 0) usage.error('error: one of --none, --accept and --status is required')
      if (provider === undefined || note === undefined) usage.error('error: --provider and --note are required')
      return run(options, (session) => previewSettleAll({ ...wanted, provider, note, outcome }, options, session))
    })
}

async function previewSettleAll(wanted: WantedSettlement, { json }: Options, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  const { provider } = wanted
  const tag = config.providers.find(({ name }) => name === provider)?.tag ?? provider
  const preview = await previewSettlement({ ...wanted, provider: tag }, settlementPorts(config, stores, actor))
  const lines = json ? [JSON.stringify(preview)] : previewLines(preview, provider)
  for (const line of lines) terminal.out(line)
  return preview.confirm === null ? 1 : 0
}

function previewLines(
  { confirm, count, more, oldest, newest, groups, left }: SettlementPreview,
  provider: string,
): readonly string[] {
  const rows = groups.map((group) => [
    group.account ?? '',
    group.reason,
    String(group.count),
    group.withCandidates === 0 ? '' : `${group.withCandidates} may be in the provider's list`,
  ])
  const matching = `${count} at ${provider}, from ${oldest} to ${newest}:`
  return [
    ...(confirm === null ? [`Nothing at ${provider} can be settled in this way.`] : [matching]),
    ...(confirm === null ? [] : formatTable([['account', 'reason', 'count', ''], ...rows])),
    ...(more > 0 ? [`${more} more follow: settle these first, and run the command again.`] : []),
    ...leftLines(left),
    ...(confirm === null
      ? []
      : [`Nothing is settled yet. To settle these ${count}: swapgate ledger settle-all --confirm ${confirm}`]),
  ]
}

function leftLines(left: readonly LeftRow[]): readonly string[] {
  if (left.length === 0) return []
  const rows = left.map(({ id, account, reason, why }) => [id, account ?? '', reason ?? '', why])
  return [`Left as they are: ${left.length}`, ...formatTable([['', 'account', 'reason', 'why'], ...rows])]
}

const rowsPerStep = 100

/** Prints a line after each step on the way. Returns 1 if something is left. */
async function settleConfirmed(confirm: string, { json }: Options, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  const ports = settlementPorts(config, stores, actor)
  const left: LeftRow[] = []
  let [settled, already] = [0, 0]
  for (;;) {
    const result = await settleNext(confirm, rowsPerStep, ports)
    if (result.outcome === 'missing') return refuse(result.message, terminal)
    const { progress } = result
    settled += progress.settled
    already += progress.already
    left.push(...progress.left)
    if (progress.remaining === 0) break
    if (!json) terminal.out(`Settled: ${settled}. To go: ${progress.remaining}.`)
  }
  if (json) terminal.out(JSON.stringify({ settled, already, left }))
  else for (const line of [settledLine(settled, already), ...leftLines(left)]) terminal.out(line)
  return left.length === 0 ? 0 : 1
}

function settledLine(settled: number, already: number): string {
  return already === 0 ? `Settled: ${settled}.` : `Settled: ${settled}. Already settled, or found meanwhile: ${already}.`
}
