import { pickAssetFields } from '../../core/assets/asset-naming.ts'
import { judgeFound } from '../../core/creation/judge.ts'
import type { TransactionRecord } from '../../core/ledger.ts'
import type { UnresolvedCreateReport } from '../../core/ledger-admin.ts'
import { compareAll, otherTokensThanSent } from '../../core/same-swap.ts'
import { isTransactionId } from '../../domain/swap.ts'
import type { ProviderReport } from '../provider-report.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'

export interface ResolveRequest {
  /** The id of the existing transaction; undefined: nothing was created. */
  readonly id: string | undefined
  /** Whether to bind a transaction that cannot be read at the provider. */
  readonly isForced: boolean
  /** Whether the response that contradicted the request counts after all. */
  readonly isAccepted?: boolean
}

/** `missing`: there is no such unresolved create. `running`: a response may still come. `refused`: it cannot be resolved in this way. */
export type ResolveResult =
  | { readonly outcome: 'done'; readonly messages: readonly string[] }
  | { readonly outcome: 'missing' | 'running' | 'refused'; readonly message: string }

export type ResolveParts = Pick<Session, 'config' | 'actor'> & {
  readonly stores: Pick<Session['stores'], 'ledgerAdmin' | 'currencyLists'>
}

/** Records the outcome of an unresolved create by hand, and prints it. */
export async function resolve(intent: string, request: ResolveRequest, session: Session): Promise<ExitCode> {
  const result = await resolveCreate(intent, request, session)
  if (result.outcome !== 'done') return refuse(result.message, session.terminal)
  for (const message of result.messages) session.terminal.out(message)
  return 0
}

/** Records the outcome of an unresolved create by hand: for the command and for the operator's API. */
export async function resolveCreate(
  intent: string,
  { id, isForced, isAccepted = false }: ResolveRequest,
  parts: ResolveParts,
): Promise<ResolveResult> {
  const create = await parts.stores.ledgerAdmin.findUnresolved(intent)
  if (!create) return { outcome: 'missing', message: `no unresolved create has the intent ${intent}` }
  if (isRunning(create, parts))
    return { outcome: 'running', message: `the create ${intent} may still be running; please try again in a minute` }
  if (isAccepted) return accept(create, parts)
  return id === undefined ? markNotCreated(intent, parts) : bind(create, id, isForced, parts)
}

async function bind(create: UnresolvedCreateReport, id: string, isForced: boolean, parts: ResolveParts): Promise<ResolveResult> {
  const refused = (message: string): ResolveResult => ({ outcome: 'refused', message })
  const { stores, actor } = parts
  const providerId = providerIdOf(id, create.provider)
  if (providerId === undefined) return refused(`${id} is not an id at ${create.provider}, the provider of this create`)
  // Loaded only when needed.
  const { readProviderReport } = await import('../provider-report.ts')
  const report = await readProviderReport(create.provider, providerId, parts)
  const objection = findObjection(report, create, providerId, isForced)
  if (objection !== undefined) return refused(objection)
  const facts = reportedFacts(report, create)
  const outcome = await stores.ledgerAdmin.bind(create.intent, providerId, Date.now(), facts, actor)
  if (outcome === 'taken') return refused(`${create.provider}~${providerId} is already in the ledger`)
  if (outcome === 'missing') return settledJustNow(create.intent)
  const done = `The create ${create.intent} is now the transaction ${create.provider}~${providerId} of its owner.`
  return { outcome: 'done', messages: [done, ...remarks(report, create)] }
}

/** A response that a person has judged: it counts as it came. */
async function accept({ intent, state, provider, reported }: UnresolvedCreateReport, parts: ResolveParts): Promise<ResolveResult> {
  if (state !== 'mismatch') return { outcome: 'refused', message: `the create ${intent} is no mismatch` }
  if (!reported) return { outcome: 'refused', message: `the create ${intent} was refused, so there is no response to accept` }
  const name = `${provider}~${reported.id}`
  const outcome = await parts.stores.ledgerAdmin.accept(intent, Date.now(), parts.actor)
  if (outcome === 'taken') return { outcome: 'refused', message: `${name} is already in the ledger` }
  if (outcome === 'missing') return settledJustNow(intent)
  const done = `The create ${intent} is now the transaction ${name} of its owner, although it differs in ${reported.fields.join(', ')}.`
  return { outcome: 'done', messages: [done] }
}

function settledJustNow(intent: string): ResolveResult {
  return { outcome: 'missing', message: `the create ${intent} has just been resolved` }
}

/** The reason why the provider's report forbids binding. A missing field is no reason: the operator decides. */
function findObjection(report: ProviderReport, create: UnresolvedCreateReport, id: string, isForced: boolean): string | undefined {
  const { provider } = create
  const name = `${provider}~${id}`
  if (report.outcome === 'missing') return `${provider} has no transaction ${id}`
  if (report.outcome === 'unreadable')
    return isForced ? undefined : `${name} cannot be read at the provider: ${report.why}; --force binds it without reading`
  const { body, contradicted = [] } = report.response
  if (body.id !== id) return `${provider} returned another transaction than ${id}`
  const others = otherTokensThanSent(body, create, report.naming)
  const differing = [...compareAll([body], create, report.naming).contradicted, ...others, ...contradicted]
  const fields = judgeFound(differing, report.policies).refused
  return fields.length === 0 ? undefined : `${name} does not match the create: it differs in ${fields.join(', ')}`
}

/** The provider's report as a record. Undefined if it could not be read. */
function reportedFacts(report: ProviderReport, { requested }: UnresolvedCreateReport): TransactionRecord | undefined {
  if (report.outcome !== 'read') return undefined
  const { body, derived = [], sequence } = report.response
  const at = Date.now()
  const transaction = {
    ...body,
    status: body.status ?? ('wait' as const),
    ...pickAssetFields(requested),
    ownAssets: undefined,
    reference: undefined,
  }
  return { transaction, derived, reportedAt: at, fetchedAt: at, sequence }
}

function remarks(report: ProviderReport, create: UnresolvedCreateReport): readonly string[] {
  if (report.outcome !== 'read') return ['It was not read at the provider: nothing was compared.']
  const { missing, alike } = compareAll([report.response.body], create, report.naming)
  const times = `It was attempted at ${new Date(create.attemptedAt).toISOString()} and created at ${report.response.body.createdAt}.`
  return [
    times,
    ...(missing.length === 0 ? [] : [`The provider does not confirm ${missing.join(', ')}.`]),
    ...(alike.length === 0 ? [] : [`The provider writes ${alike.join(', ')} in another way.`]),
  ]
}

async function markNotCreated(intent: string, { stores, actor }: ResolveParts): Promise<ResolveResult> {
  if (!(await stores.ledgerAdmin.markNotCreated(intent, actor))) return settledJustNow(intent)
  const done = `The create ${intent} is deleted: nothing was created, and its Idempotency-Key can be used again.`
  return { outcome: 'done', messages: [done] }
}

/** Whether a response may still come. Creates of older versions have no deadline: today's timeout of their provider stands for it. */
function isRunning(
  { state, provider, attemptedAt, deadline }: UnresolvedCreateReport,
  { config }: Pick<Session, 'config'>,
): boolean {
  const { timeout = 0 } = config.providers.find(({ tag }) => tag === provider) ?? {}
  return state === 'pending' && Date.now() < (deadline ?? attemptedAt + timeout * 1_000)
}

/** The id at the provider, from itself or from an id for clients. Undefined if it is another provider's id or no id. */
function providerIdOf(id: string, tag: string): string | undefined {
  const [idTag, ...rest] = id.split('~')
  const providerId = rest.length === 0 ? id : idTag === tag ? rest.join('~') : ''
  return isTransactionId(providerId) ? providerId : undefined
}
