import {
  type FoundTransaction,
  maxUnresolved,
  type UnresolvedCreateReport,
  type UnresolvedCursor,
} from '../../core/ledger-admin.ts'
import type { ExitCode, Session } from '../session.ts'
import type { Options } from '../values.ts'
import { formatTable, toIso } from '../values.ts'
import { shortRow } from './transaction-row.ts'

type Stores = Pick<Session['stores'], 'ledgerAdmin'>

/** Prints the creates and transactions that an operator may have to settle. */
export async function printUnresolved({ json }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  if (json) {
    terminal.out(JSON.stringify(await allRows(stores)))
    return 0
  }
  const creates = (await allCreates(stores)).map((create) => [
    create.intent,
    create.state,
    create.provider,
    toIso(create.attemptedAt) ?? '',
    orderText(create.requested),
    reportedText(create),
  ])
  const transactions = (await stores.ledgerAdmin.needPerson()).map(transactionColumns)
  if (creates.length + transactions.length === 0) terminal.out('No create is unresolved, and no transaction needs a person.')
  if (creates.length > 0) print([['intent', 'state', 'provider', 'attempted', 'request', 'reported'], ...creates])
  if (creates.length > 0 && transactions.length > 0) terminal.out('')
  if (transactions.length > 0)
    print([['transaction', 'attention', 'status', 'created', 'last seen', 'account', 'order'], ...transactions])
  return 0

  function print(rows: readonly (readonly string[])[]): void {
    for (const line of formatTable(rows)) terminal.out(line)
  }
}

async function allCreates({ ledgerAdmin }: Stores): Promise<readonly UnresolvedCreateReport[]> {
  const creates: UnresolvedCreateReport[] = []
  for (let page = await ledgerAdmin.unresolved(); page.length > 0; page = await ledgerAdmin.unresolved(page.at(-1)))
    creates.push(...page)
  return creates
}

async function allRows(stores: Stores): Promise<readonly object[]> {
  const transactions = await stores.ledgerAdmin.needPerson()
  return [...(await allCreates(stores)).map(createRow), ...transactions.map(transactionRow)]
}

export interface UnresolvedPage {
  readonly rows: readonly object[]
  /** Of the next page; absent on the last one. */
  readonly next?: UnresolvedCursor | undefined
}

/** A page of creates; the last one ends with the transactions that need a person. */
export async function unresolvedPage({ ledgerAdmin }: Stores, after?: UnresolvedCursor): Promise<UnresolvedPage> {
  const creates = await ledgerAdmin.unresolved(after)
  if (creates.length === maxUnresolved) return { rows: creates.map(createRow), next: creates.at(-1) }
  return { rows: [...creates.map(createRow), ...(await ledgerAdmin.needPerson()).map(transactionRow)] }
}

function createRow({ attemptedAt, reported, ...create }: UnresolvedCreateReport) {
  return { ...create, attemptedAt: toIso(attemptedAt), reported: reported ?? null }
}

function transactionRow(found: FoundTransaction) {
  return { ...shortRow(found), state: 'attention' }
}

function transactionColumns(found: FoundTransaction): readonly string[] {
  const { id, attention, status, createdAt, reportedAt, account, ...order } = shortRow(found)
  return [id, attention ?? '', status ?? 'unknown', createdAt, reportedAt ?? '', account ?? '', orderText(order)]
}

function orderText(order: Partial<FoundTransaction['entry']['transaction']>): string {
  const [from, to] = [order.codeFrom ?? order.coinFrom ?? '?', order.codeTo ?? order.coinTo ?? '?']
  return `${order.amountIn} ${from} to ${to} at ${order.withdrawalAddress ?? '?'}`
}

function reportedText({ state, reported, candidates = [] }: UnresolvedCreateReport): string {
  if (!reported && candidates.length === 0) return ''
  if (!reported) return `may be ${candidates.join(', ')}${state === 'mismatch' ? ', although the provider refused the create' : ''}`
  const { id, fields } = reported
  if (fields.includes('refused')) return `${id}, although the provider refused the create`
  return fields.includes('id') ? `${id}, an id that another create has or had` : `${id}, which differs in ${fields.join(', ')}`
}
