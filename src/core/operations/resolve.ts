/** The outcome of an unresolved create, recorded by hand (docs/contract.md §10, §15). */
import type { ServiceResponse } from '../../domain/service.ts'
import { formatTransactionId, isTransactionId, parseTransactionId } from '../../domain/swap.ts'
import { pickAssetFields } from '../assets/asset-naming.ts'
import { judgeFound } from '../creation/judge.ts'
import type { TransactionReader } from '../creation/match-create.ts'
import type { TransactionRecord } from '../ledger.ts'
import type { Judgement, LedgerAdmin, UnresolvedCreateReport } from '../ledger-admin.ts'
import { compareAll, otherTokensThanSent } from '../same-swap.ts'
import { withoutAddresses } from './settle.ts'
import { originLines, reasonOf } from './unresolved.ts'

/**
 * `bind`: the id of the existing transaction, at the provider or for clients; `force` binds one that cannot be read at the provider.
 * `none`: nothing was created. `accept`: the response that contradicted the request counts after all.
 */
export type Resolution = (
  | { readonly bind: string; readonly force: boolean }
  | { readonly none: true }
  | { readonly accept: true }
) & {
  /** The reason, for the audit log. */
  readonly note?: string | undefined
}

/** `missing`: there is no such unresolved create. `running`: a response may still come. `refused`: it cannot be resolved in this way. */
export type ResolveResult =
  | { readonly outcome: 'done'; readonly messages: readonly string[] }
  | { readonly outcome: 'missing' | 'running'; readonly message: string }
  /** `canForce`: the same with `force` is done. */
  | { readonly outcome: 'refused'; readonly message: string; readonly canForce: boolean }

/** A transaction as its provider reports it now. */
export type ProviderReport =
  | ({ readonly outcome: 'read'; readonly response: ServiceResponse<'getTransaction'> } & Pick<
      TransactionReader,
      'naming' | 'policies'
    >)
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'unreadable'; readonly why: string }

export interface ResolvePorts {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'findUnresolved' | 'bind' | 'accept' | 'markNotCreated'>
  /** Milliseconds; 0 for a provider that is not configured. */
  readonly timeoutOf: (tag: string) => number
  /** `id`: the provider's own. */
  readonly readReport: (tag: string, id: string) => Promise<ProviderReport>
  /** The operator, for the audit log. */
  readonly actor: string
}

export async function resolveCreate(intent: string, resolution: Resolution, ports: ResolvePorts): Promise<ResolveResult> {
  const create = await ports.ledgerAdmin.findUnresolved(intent)
  if (!create) return { outcome: 'missing', message: `no unresolved create has the intent ${intent}` }
  const running = whyRunning(create, ports)
  if (running !== undefined) return { outcome: 'running', message: running }
  const judgement = judgementOf(create, resolution)
  if ('accept' in resolution) return accept(create, judgement, ports)
  return 'none' in resolution ? markNotCreated(create, judgement, ports) : bind(create, resolution, judgement, ports)
}

function judgementOf(create: UnresolvedCreateReport, { note }: Resolution): Judgement {
  return {
    isMismatch: create.state === 'mismatch',
    account: create.account,
    reason: reasonOf(create),
    ...(note !== undefined && { note: withoutAddresses(note) }),
  }
}

async function bind(
  create: UnresolvedCreateReport,
  { bind: id, force }: Extract<Resolution, { readonly bind: string }>,
  judgement: Judgement,
  { ledgerAdmin, readReport, actor }: ResolvePorts,
): Promise<ResolveResult> {
  const { intent, provider } = create
  const providerId = providerIdOf(id, provider)
  if (providerId === undefined) return refused(`${id} is not an id at ${provider}, the provider of this create`)
  const report = await readReport(provider, providerId)
  const objection = findObjection(report, create, providerId)
  if (objection && !(force && objection.canForce)) return objection
  const outcome = await ledgerAdmin.bind(intent, providerId, Date.now(), recordOf(report, create), actor, judgement)
  const name = formatTransactionId(provider, providerId)
  if (outcome === 'taken') return refused(`${name} is already in the ledger`)
  if (outcome === 'missing') return resolvedJustNow(intent)
  const done = `The create ${intent} is now the transaction ${name} of its owner.`
  return { outcome: 'done', messages: [done, ...remarks(report, create), ...origin(create)] }
}

/** A response that a person has judged: it counts as it came. */
async function accept(
  create: UnresolvedCreateReport,
  judgement: Judgement,
  { ledgerAdmin, actor }: ResolvePorts,
): Promise<ResolveResult> {
  const { intent, provider, reported } = create
  const unacceptable = whyUnacceptable(create)
  if (unacceptable !== undefined || !reported) return refused(unacceptable ?? '')
  const name = formatTransactionId(provider, reported.id)
  const outcome = await ledgerAdmin.accept(intent, Date.now(), actor, judgement)
  if (outcome === 'taken') return refused(`${name} is already in the ledger`)
  if (outcome === 'missing') return resolvedJustNow(intent)
  const done = `The create ${intent} is now the transaction ${name} of its owner, although it differs in ${reported.fields.join(', ')}.`
  return { outcome: 'done', messages: [done, ...origin(create)] }
}

async function markNotCreated(
  create: UnresolvedCreateReport,
  judgement: Judgement,
  { ledgerAdmin, actor }: ResolvePorts,
): Promise<ResolveResult> {
  const { intent } = create
  if (!(await ledgerAdmin.markNotCreated(intent, actor, judgement))) return resolvedJustNow(intent)
  const done = `The create ${intent} is deleted: nothing was created, and its Idempotency-Key can be used again.`
  return { outcome: 'done', messages: [done, ...origin(create)] }
}

/** Whose create it was, and why a person was needed; of a mismatch the rest says that. */
function origin(create: UnresolvedCreateReport): readonly string[] {
  return originLines(create.account, create.unknownReason)
}

function resolvedJustNow(intent: string): ResolveResult {
  return { outcome: 'missing', message: `the create ${intent} has just been resolved` }
}

type Refused = Extract<ResolveResult, { readonly outcome: 'refused' }>

function refused(message: string, canForce = false): Refused {
  return { outcome: 'refused', message, canForce }
}

/** The reason why the provider's report forbids binding. A missing field is no reason: the operator decides. */
function findObjection(report: ProviderReport, create: UnresolvedCreateReport, id: string): Refused | undefined {
  const { provider } = create
  const name = formatTransactionId(provider, id)
  if (report.outcome === 'missing') return refused(`${provider} has no transaction ${id}`)
  if (report.outcome === 'unreadable') return refused(`${name} cannot be read at the provider: ${report.why}`, true)
  const { body, contradicted = [] } = report.response
  if (body.id !== id) return refused(`${provider} returned another transaction than ${id}`)
  const others = otherTokensThanSent(body, create, report.naming)
  const differing = [...compareAll([body], create, report.naming).contradicted, ...others, ...contradicted]
  const fields = judgeFound(differing, report.policies).refused
  return fields.length === 0 ? undefined : refused(`${name} does not match the create: it differs in ${fields.join(', ')}`)
}

/** The provider's report as a record. Undefined if it could not be read. */
function recordOf(report: ProviderReport, { requested }: UnresolvedCreateReport): TransactionRecord | undefined {
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

/** Undefined if no response may come any more. Creates of older versions have no deadline: today's timeout of their provider stands for it. */
export function whyRunning(
  { intent, state, provider, attemptedAt, deadline }: UnresolvedCreateReport,
  { timeoutOf }: Pick<ResolvePorts, 'timeoutOf'>,
): string | undefined {
  const isRunning = state === 'pending' && Date.now() < (deadline ?? attemptedAt + timeoutOf(provider))
  return isRunning ? `the create ${intent} may still be running; please try again in a minute` : undefined
}

/** Undefined if the create has a response that a person may accept. */
export function whyUnacceptable({ intent, state, reported }: UnresolvedCreateReport): string | undefined {
  if (state !== 'mismatch') return `the create ${intent} is no mismatch`
  return reported ? undefined : `the create ${intent} was refused, so there is no response to accept`
}

/** The id at the provider, from itself or from an id for clients. Undefined if it is another provider's id or no id. */
function providerIdOf(id: string, tag: string): string | undefined {
  const { tag: idTag = tag, id: providerId } = parseTransactionId(id)
  return idTag === tag && isTransactionId(providerId) ? providerId : undefined
}
