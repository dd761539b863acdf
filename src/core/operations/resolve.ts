/** The outcome of an unresolved create, recorded by hand (docs/contract.md §10, docs/contract-operators.md §15). */
import { gatewayContext, type ServiceResponse } from '../../domain/service.ts'
import { formatTransactionId, isTransactionId, parseTransactionId, type SentWords, type Transaction } from '../../domain/swap.ts'
import { assetFields, from, pickAssetFields, to } from '../assets/asset-naming.ts'
import { hasFailed } from '../creation/judge.ts'
import type { TransactionReader } from '../creation/match-create.ts'
import { takingDeposit } from '../creation/other-deposits.ts'
import { fieldsOf, isPriceKnown, priceFieldOf, reportOfGet, stillRefused } from '../creation/payable.ts'
import type { DepositClaim, TransactionRecord } from '../ports/ledger.ts'
import type { Judgement, LedgerAdmin, UnresolvedCreateReport } from '../ports/ledger-admin.ts'
import type { JudgePolicies } from '../provider-scope.ts'
import { compareAll, isConfirmed } from '../same-swap.ts'
import { withoutAddresses } from './settle.ts'
import { originLines, reasonOf } from './unresolved.ts'

/**
 * `bind`: the id of the existing transaction, at the provider or for clients; `force` binds one that cannot be read at the provider.
 * `none`: nothing was created. `accept`: the response that contradicted the request counts after all. `despite`: the names of contradictions
 * that a person has judged.
 */
export type Resolution = (
  | { readonly bind: string; readonly force: boolean; readonly despite?: readonly string[] | undefined }
  | { readonly none: true }
  | { readonly accept: true; readonly despite?: readonly string[] | undefined }
) & {
  /** The reason, for the audit log. */
  readonly note?: string | undefined
}

/** `missing`: there is no such unresolved create. `running`: a response may still come. `refused`: it cannot be resolved in this way. */
export type ResolveResult =
  | { readonly outcome: 'done'; readonly messages: readonly string[] }
  | { readonly outcome: 'missing' | 'running'; readonly message: string }
  /** `canForce`: the same with `force` is done. `contradictions`: the same is done despite them. */
  | {
      readonly outcome: 'refused'
      readonly message: string
      readonly canForce: boolean
      readonly contradictions?: readonly string[] | undefined
    }

/** A transaction as its provider reports it now. */
export type ProviderReport =
  | ({ readonly outcome: 'read'; readonly response: ServiceResponse<'getTransaction'> } & Pick<
      TransactionReader,
      'naming' | 'capabilities' | 'mayBecomePayable'
    >)
  | { readonly outcome: 'missing' }
  | { readonly outcome: 'unreadable'; readonly why: string }

export interface ResolvePorts {
  readonly ledgerAdmin: Pick<LedgerAdmin, 'findUnresolved' | 'bind' | 'accept' | 'markNotCreated'>
  /** As `OtherDeposits`: reads who has the deposit address once more. `tag`: of the swap that takes it. */
  readonly claimAfter: (tag: string, transaction: Transaction) => Promise<DepositClaim | undefined>
  /** What the settings of its provider accept; a provider that is not configured accepts nothing. */
  readonly policiesOf: (tag: string) => JudgePolicies
  /** Milliseconds; 0 for a provider that is not configured. */
  readonly timeoutOf: (tag: string) => number
  /** `id`: the provider's own. `sent`: by the create of the transaction, if that is known. */
  readonly readReport: (tag: string, id: string, sent?: SentWords) => Promise<ProviderReport>
  /** The operator, for the audit log. */
  readonly actor: string
}

export async function resolveCreate(intent: string, resolution: Resolution, ports: ResolvePorts): Promise<ResolveResult> {
  const create = await ports.ledgerAdmin.findUnresolved(intent)
  if (!create) return { outcome: 'missing', message: `no unresolved create has the intent ${intent}` }
  const running = whyRunning(create, ports)
  if (running !== undefined) return { outcome: 'running', message: running }
  const waiting = whyWithheld(create)
  if (waiting !== undefined) return refused(`${waiting}, then found assign --key or found free`)
  const judgement = judgementOf(create, resolution)
  if ('accept' in resolution) return accept(create, resolution.despite ?? [], judgement, ports)
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
  { bind: id, force, despite = [] }: Extract<Resolution, { readonly bind: string }>,
  judgement: Judgement,
  ports: ResolvePorts,
): Promise<ResolveResult> {
  const { ledgerAdmin, readReport, actor } = ports
  const { intent, provider } = create
  const providerId = providerIdOf(id, provider)
  if (providerId === undefined) return refused(`${id} is not an id at ${provider}, the provider of this create`)
  const report = await readReport(provider, providerId, create.sent)
  const objection = findObjection(report, create, providerId)
  if (objection && !(force && objection.canForce)) return objection
  const name = formatTransactionId(provider, providerId)
  const contradictions =
    report.outcome === 'read'
      ? [...new Set([...(await contradictionsOf(report, create)), ...notPutRight(report, create, ports)])]
      : []
  const left = contradictions.filter((field) => !despite.includes(field))
  if (left.length > 0) return contradicted(`${name} does not match the create: it differs in ${left.join(', ')}`, contradictions)
  const record = recordOf(report, create)
  const judged = { ...judgement, ...(contradictions.length > 0 && { despite: contradictions }) }
  const store = (claim: DepositClaim) => ledgerAdmin.bind(intent, providerId, Date.now(), record, actor, judged, claim)
  const outcome = await takingDeposit(store, async () => record && (await ports.claimAfter(provider, record.transaction)))
  if (outcome === 'depositTaken') return refused(`${name} has the deposit address of another open swap`)
  if (outcome === 'taken') return refused(`${name} is already in the ledger`)
  if (outcome === 'missing') return resolvedJustNow(intent)
  const done = `The create ${intent} is now the transaction ${name} of its owner${despiteText(contradictions)}.`
  return { outcome: 'done', messages: [done, ...remarks(report, create), ...origin(create)] }
}

/** Why the transaction may not become payable, by names. */
async function contradictionsOf(
  report: Extract<ProviderReport, { readonly outcome: 'read' }>,
  create: UnresolvedCreateReport,
): Promise<readonly string[]> {
  const { naming, capabilities, mayBecomePayable, response } = report
  const { requested, sent, quote } = create
  const { refused: findings } = await mayBecomePayable(
    { requested, pair: pickAssetFields(requested), sent, quote },
    reportOfGet(response, create, naming, true), // a person decides about the price
    gatewayContext(capabilities),
  )
  return fieldsOf(findings)
}

/** A response that a person has judged: it counts as it came. */
async function accept(
  create: UnresolvedCreateReport,
  despite: readonly string[],
  judgement: Judgement,
  ports: ResolvePorts,
): Promise<ResolveResult> {
  const { ledgerAdmin, actor } = ports
  const { intent, provider, reported } = create
  const unacceptable = whyUnacceptable(create)
  if (unacceptable !== undefined || !reported) return refused(unacceptable ?? '')
  const name = formatTransactionId(provider, reported.id)
  const contradictions = contradictionsOfMismatch(create, ports)
  const left = contradictions.filter((field) => !despite.includes(field))
  if (left.length > 0) return contradicted(`the response differs from the request in ${left.join(', ')}`, contradictions)
  const judged = { ...judgement, ...(contradictions.length > 0 && { despite: contradictions }) }
  const store = (claim: DepositClaim) => ledgerAdmin.accept(intent, Date.now(), actor, judged, claim)
  const outcome = await takingDeposit(store, () => ports.claimAfter(provider, reported.transaction))
  if (outcome === 'depositTaken') return refused(`${name} has the deposit address of another open swap`)
  if (outcome === 'taken') return refused(`${name} is already in the ledger`)
  if (outcome === 'missing') return resolvedJustNow(intent)
  const done = `The create ${intent} is now the transaction ${name} of its owner${despiteText(contradictions)}.`
  return { outcome: 'done', messages: [done, ...origin(create)] }
}

/** What the response was refused for, and the settings of today still refuse. `refused` says that the provider had refused the create. */
function contradictionsOfMismatch(create: UnresolvedCreateReport, { policiesOf }: ResolvePorts): readonly string[] {
  const { provider, reported } = create
  if (!reported) return []
  const fields = reported.fields.filter((field) => field !== 'refused')
  return stillRefused(create, { ...reported, fields }, policiesOf(provider))
}

/** Those of the same transaction's response in whose place the provider says nothing now: its silence takes nothing back. */
function notPutRight(
  { naming, response: { body } }: Extract<ProviderReport, { readonly outcome: 'read' }>,
  create: UnresolvedCreateReport,
  ports: ResolvePorts,
): readonly string[] {
  if (create.reported?.id !== body.id) return []
  const { requested } = create
  const { missing } = compareAll([body], create, naming)
  const isSaid = (field: string): boolean => {
    if (field === priceFieldOf(requested)) return isPriceKnown(create, body)
    if (field === 'status') return !hasFailed(body)
    // A response that named another network of the coin was refused for the coin.
    const side = [from, to].find(({ coin }) => coin === field)
    const said = { ...body, ...body.ownAssets }[field as keyof Transaction]
    return isConfirmed(side?.network ?? field, requested, missing) || (!assetFields.has(field) && Boolean(said))
  }
  return contradictionsOfMismatch(create, ports).filter((field) => !isSaid(field))
}

/** Why many cannot accept it at once. */
export function whyContradicted(create: UnresolvedCreateReport, ports: ResolvePorts): string | undefined {
  const contradictions = contradictionsOfMismatch(create, ports)
  return contradictions.length === 0 ? undefined : `the response differs from the request in ${contradictions.join(', ')}`
}

function contradicted(message: string, contradictions: readonly string[]): Refused {
  return { ...refused(message), contradictions }
}

function despiteText(contradictions: readonly string[]): string {
  return contradictions.length === 0 ? '' : `, although it differs in ${contradictions.join(', ')}`
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

/** The reason why the provider's report cannot be that of the transaction. */
function findObjection(report: ProviderReport, { provider }: UnresolvedCreateReport, id: string): Refused | undefined {
  const name = formatTransactionId(provider, id)
  if (report.outcome === 'missing') return refused(`${provider} has no transaction ${id}`)
  if (report.outcome === 'unreadable') return refused(`${name} cannot be read at the provider: ${report.why}`, true)
  return report.response.body.id === id ? undefined : refused(`${provider} returned another transaction than ${id}`)
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

const noDeposit = 'Its deposit address is judged at the first get that has one.'

function remarks(report: ProviderReport, create: UnresolvedCreateReport): readonly string[] {
  if (report.outcome !== 'read') return ['It was not read at the provider: nothing was compared.', noDeposit]
  const { missing, alike } = compareAll([report.response.body], create, report.naming)
  const times = `It was attempted at ${new Date(create.attemptedAt).toISOString()} and created at ${report.response.body.createdAt}.`
  const hasPrice = isPriceKnown(create, report.response.body)
  return [
    times,
    ...(hasPrice ? [] : ['No price was known that it could be compared with.']),
    ...(report.response.body.depositAddress ? [] : [noDeposit]),
    ...(missing.length === 0 ? [] : [`The provider does not confirm ${missing.join(', ')}.`]),
    ...(alike.length === 0 ? [] : [`The provider writes ${alike.join(', ')} in another way.`]),
  ]
}

/** Undefined if no response may come any more. Creates of older versions have no deadline: today's timeout of their provider stands for it. */
export function whyRunning(
  { intent, state, unknownReason, provider, attemptedAt, deadline }: UnresolvedCreateReport,
  { timeoutOf }: Pick<ResolvePorts, 'timeoutOf'>,
): string | undefined {
  // A process whose clock is ahead may look for what another one has sent and still waits for.
  const isUnheard = state === 'pending' || unknownReason === 'interrupted'
  const isRunning = isUnheard && Date.now() < (deadline ?? attemptedAt + timeoutOf(provider))
  return isRunning ? `the create ${intent} may still be running; please try again in a minute` : undefined
}

/** Undefined if it is decided about here. Only the commands about found orders say whether the client has seen an address. */
export function whyWithheld({ unknownReason }: UnresolvedCreateReport): string | undefined {
  const isTakenBack = unknownReason?.startsWith('taken_back') === true
  return isTakenBack ? 'its Idempotency-Key returned an order that was taken back: swapgate ledger found list --keys' : undefined
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
