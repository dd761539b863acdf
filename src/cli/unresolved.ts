import type { Unresolved } from '../core/bookkeeping.ts'
import { columns } from './columns.ts'
import { toIso } from './moment.ts'
import type { Options } from './option.ts'
import type { ExitCode, Session } from './session.ts'

/** The creates that an operator may have to settle. */
export async function tellUnresolved({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const creates = await stores.bookkeeping.unresolved()
  if (json) {
    const facts = creates.map(({ attemptedAt, told = null, ...create }) => ({ ...create, attemptedAt: toIso(attemptedAt), told }))
    terminal.out(JSON.stringify(facts))
    return 0
  }
  const rows = creates.map((create) => [
    create.intent,
    create.state,
    create.provider,
    toIso(create.attemptedAt) ?? '',
    questionOf(create),
    toldOf(create),
  ])
  if (rows.length === 0) terminal.out('No create is in doubt.')
  else for (const line of columns([['intent', 'state', 'provider', 'attempted', 'question', 'told'], ...rows])) terminal.out(line)
  return 0
}

function questionOf({ asked }: Unresolved): string {
  const [from, to] = [asked.codeFrom ?? asked.coinFrom ?? '?', asked.codeTo ?? asked.coinTo ?? '?']
  return `${asked.amountIn} ${from} to ${to} at ${asked.withdrawalAddress}`
}

function toldOf({ told }: Unresolved): string {
  return told ? `${told.id}, which differs in ${told.fields.join(', ')}` : ''
}
