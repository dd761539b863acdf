/** `swapgate transactions`: what can be done about a swap that does not go on (docs/contract.md §3.11, docs/contract-operators.md §15). */
import type { Command } from 'commander'
import { actOnSwap, type OperatorAction } from '../core/operations/act-on-swap.ts'
import { askedText, askProvider } from '../core/operations/ask-provider.ts'
import { noteRule, toNote } from '../core/operations/settle.ts'
import { swapTimeline } from '../core/operations/timeline.ts'
import { wholeRow } from '../core/operations/transaction-row.ts'
import { Fault } from '../domain/fault.ts'
import { capabilityOf, type SwapAction, swapActions } from '../domain/swap-action.ts'
import { openOperatorActions } from '../process/operator-actions.ts'
import { swapLines } from './ledger.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { changing, refuse, type Terminal } from './terminal.ts'
import { configOption, jsonOption, type Options, parsedBy } from './values.ts'

const descriptions: Readonly<Record<SwapAction, string>> = {
  refundTransaction: 'ask the provider to send the deposit back, once',
  continueTransaction: 'ask the provider to let a held swap go on, once',
  setRefundAddress: 'set the refund address of a swap that has none, once',
}

interface ActOptions extends Options {
  readonly address?: string
  readonly extraId?: string
  readonly note: string
  readonly force?: boolean
}

export function addTransactions(program: Command, terminal: Terminal, end: (exitCode: number) => void): void {
  const transactions = program
    .command('transactions')
    .description(
      'ask the provider about a swap, or do what its owner may, where its provider has it: send it back, let it go on, set its refund address',
    )
  transactions
    .command('read <transaction>')
    .description('ask the provider about a swap now, once, and print what happened to it; <transaction> is the id for clients')
    .option(...configOption)
    .option(...jsonOption)
    .action(async (id: string, options: Options) =>
      end(await withLedger(options, terminal, (session) => ask(id, options, session), 'change')),
    )
  for (const action of swapActions) {
    const command = transactions
      .command(`${capabilityOf[action]} <transaction>`)
      .description(`${descriptions[action]}; <transaction> is the id for clients`)
    if (action === 'refundTransaction')
      command.option('--address <address>', 'where the deposit goes back to, if the swap has no refund address')
    if (action === 'setRefundAddress') command.requiredOption('--address <address>', 'where the deposit goes back to')
    if (action !== 'continueTransaction') command.option('--extra-id <memo>', 'the memo or tag of this address')
    command
      .requiredOption('--note <text>', 'the reason, for the audit log', parsedBy(toNote, noteRule))
      .option('--force', 'send it again, because the provider says that an earlier one of unknown outcome was not carried out')
      .option(...configOption)
      .option(...jsonOption)
      .action(async (id: string, { address, extraId, note, force = false, ...options }: ActOptions) => {
        const wanted = { id, action, refundAddress: address, refundExtraId: extraId, note, isForced: force }
        end(await withLedger(options, terminal, (session) => act(wanted, options, changing(session)), 'change'))
      })
  }
}

/** Exit code 1 if the provider has not answered. */
async function ask(id: string, { json }: Options, { config, stores, terminal, actor }: Session): Promise<ExitCode> {
  await using open = new AsyncDisposableStack()
  const actions = await openOperatorActions(config, stores, open)
  try {
    const asked = await askProvider(id, actor, { ...stores, actions })
    const read = await swapTimeline(stores.ledgerAdmin, id)
    if (json) terminal.out(JSON.stringify({ asked, ...read }))
    else for (const line of [askedText(asked), '', ...(read ? swapLines(read) : [])]) terminal.out(line)
    return asked.outcome === 'done' ? 0 : 1
  } catch (reason) {
    const { kind, message } = Fault.from(reason)
    return refuse(kind === 'notFound' ? `the ledger has no transaction ${id}` : message, terminal)
  }
}

async function act(wanted: OperatorAction, { json }: Options, session: Session): Promise<ExitCode> {
  const { config, stores, terminal, actor } = session
  await using open = new AsyncDisposableStack()
  const actions = await openOperatorActions(config, stores, open)
  try {
    const { found, isRepeated } = await actOnSwap(wanted, actor, stores.ledgerAdmin, actions)
    const { account, entry } = found
    if (json) terminal.out(JSON.stringify({ ...wholeRow(found), isRepeated }))
    else {
      terminal.out(isRepeated ? 'It was done before, and nothing was sent.' : 'The provider has taken it.')
      terminal.out(
        `The client${account === undefined ? '' : ` ${account}`} gets the status ${entry.transaction.status ?? 'unknown'}.`,
      )
    }
    return 0
  } catch (reason) {
    return explain(Fault.from(reason), wanted, terminal)
  }
}

const optionOf: Readonly<Record<string, string>> = { refundAddress: '--address: ', refundExtraId: '--extra-id: ' }

function explain({ kind, field = '', message, supportUrl, canForce }: Fault, { id }: OperatorAction, terminal: Terminal): ExitCode {
  if (kind === 'notFound') return refuse(`the ledger has no transaction ${id}`, terminal)
  const page = supportUrl === undefined ? '' : ` Its support page: ${supportUrl}`
  const force = canForce ? ' If the provider says that it was not carried out, --force sends it again.' : ''
  return refuse(`${optionOf[field] ?? ''}${message}${page}${force}`, terminal)
}
