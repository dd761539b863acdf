import type { UnresolvedCreateReport } from '../core/ledger-admin.ts'
import type { Options } from './option.ts'
import type { ExitCode, Session } from './session.ts'
import { formatTable } from './table.ts'
import { toIso } from './timestamp.ts'

/** Prints the creates that an operator may have to resolve. */
export async function printUnresolved({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const creates = await stores.ledgerAdmin.unresolved()
  if (json) {
    terminal.out(JSON.stringify(creates.map(asJson)))
    return 0
  }
  const rows = creates.map((create) => [
    create.intent,
    create.state,
    create.provider,
    toIso(create.attemptedAt) ?? '',
    requestText(create),
    reportedText(create),
  ])
  if (rows.length === 0) terminal.out('No create is unresolved.')
  else
    for (const line of formatTable([['intent', 'state', 'provider', 'attempted', 'request', 'reported'], ...rows]))
      terminal.out(line)
  return 0
}

/** As `ledger unknown --json` and the operator's API have it. */
export function asJson({ attemptedAt, reported, ...create }: UnresolvedCreateReport) {
  return { ...create, attemptedAt: toIso(attemptedAt), reported: reported ?? null }
}

function requestText({ requested }: UnresolvedCreateReport): string {
  const [from, to] = [requested.codeFrom ?? requested.coinFrom ?? '?', requested.codeTo ?? requested.coinTo ?? '?']
  return `${requested.amountIn} ${from} to ${to} at ${requested.withdrawalAddress}`
}

function reportedText({ reported }: UnresolvedCreateReport): string {
  if (!reported) return ''
  const { id, fields } = reported
  return fields.includes('id') ? `${id}, an id that another create has or had` : `${id}, which differs in ${fields.join(', ')}`
}
