import { pickAssetFields } from '../core/assets/pair.ts'
import { compareAll } from '../core/creation/reconciliation/compare-create.ts'
import type { TransactionRecord } from '../core/ledger.ts'
import type { UnresolvedCreateReport } from '../core/ledger-admin.ts'
import { isTransactionId } from '../domain/swap/transaction-id.ts'
import type { ProviderReport } from './provider-report.ts'
import type { ExitCode, Session } from './session.ts'
import { refuse } from './terminal.ts'

export interface ResolveRequest {
  /** It exists under this id; undefined: nothing was created. */
  readonly id: string | undefined
  /** Whether a transaction that cannot be read at the provider is bound all the same. */
  readonly isForced: boolean
}

/** Settles a create by hand. */
export async function resolve(intent: string, { id, isForced }: ResolveRequest, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  const create = (await stores.ledgerAdmin.unresolved()).find((unresolved) => unresolved.intent === intent)
  if (!create) return refuse(`no create in doubt has the intent ${intent}`, terminal)
  if (isRunning(create, session)) return refuse(`the create ${intent} may still be running; please try again in a minute`, terminal)
  return id === undefined ? markNotCreated(intent, session) : bind(create, id, isForced, session)
}

async function bind(create: UnresolvedCreateReport, id: string, isForced: boolean, session: Session): Promise<ExitCode> {
  const { stores, terminal, actor } = session
  const providerId = providerIdOf(id, create.provider)
  if (providerId === undefined) return refuse(`${id} is no id at ${create.provider}, where this create was tried`, terminal)
  // Loaded only where it is wanted.
  const { readProviderReport } = await import('./provider-report.ts')
  const report = await readProviderReport(create.provider, providerId, session)
  const objection = findObjection(report, create, providerId, isForced)
  if (objection !== undefined) return refuse(objection, terminal)
  const facts = reportedFacts(report, create)
  const outcome = await stores.ledgerAdmin.bind(create.intent, providerId, Date.now(), facts, actor)
  if (outcome === 'taken') return refuse(`the ledger holds ${create.provider}~${providerId} already`, terminal)
  if (outcome === 'missing') return refuse(`the create ${create.intent} was settled just now`, terminal)
  terminal.out(`The create ${create.intent} is the transaction ${create.provider}~${providerId} of its owner.`)
  for (const line of remarks(report, create)) terminal.out(line)
  return 0
}

/** Why the provider's account of it does not let it be bound. Silence does not object: to tell is what a person is asked for. */
function findObjection(
  report: ProviderReport,
  { requested: asked, provider }: UnresolvedCreateReport,
  id: string,
  isForced: boolean,
): string | undefined {
  const name = `${provider}~${id}`
  if (report.outcome === 'missing') return `${provider} has no transaction ${id}`
  if (report.outcome === 'unreadable')
    return isForced ? undefined : `${name} cannot be read there, ${report.why}; --force binds it unread`
  const { body, contradicted = [] } = report.answer
  if (body.id !== id) return `${provider} answers about another transaction than ${id}`
  const fields = [...compareAll([body], asked, report.naming).contradicted, ...contradicted]
  return fields.length === 0 ? undefined : `${name} does not answer the question: it differs in ${fields.join(', ')}`
}

/** What the provider reported, where it could be read. */
function reportedFacts(report: ProviderReport, { requested: asked }: UnresolvedCreateReport): TransactionRecord | undefined {
  if (report.outcome !== 'read') return undefined
  const { body, derived = [], sequence } = report.answer
  const at = Date.now()
  const transaction = { ...body, status: body.status ?? ('wait' as const), ...pickAssetFields(asked) }
  return { transaction, derived, reportedAt: at, fetchedAt: at, sequence }
}

function remarks(report: ProviderReport, { requested: asked, attemptedAt }: UnresolvedCreateReport): readonly string[] {
  if (report.outcome !== 'read') return ['It was not read at the provider: nothing was compared.']
  const { missing: silent } = compareAll([report.answer.body], asked, report.naming)
  const times = `It was attempted at ${new Date(attemptedAt).toISOString()}, and created at ${report.answer.body.createdAt}.`
  return silent.length === 0 ? [times] : [times, `The provider does not confirm ${silent.join(', ')}.`]
}

async function markNotCreated(intent: string, { stores, terminal, actor }: Session): Promise<ExitCode> {
  if (!(await stores.ledgerAdmin.markNotCreated(intent, actor)))
    return refuse(`the create ${intent} was settled just now`, terminal)
  terminal.out(`The create ${intent} is forgotten: nothing was created, and its Idempotency-Key may be used again.`)
  return 0
}

/** Its answer may come as long as a provider has time. */
function isRunning({ state, provider, attemptedAt }: UnresolvedCreateReport, { config }: Session): boolean {
  const { timeout = 0 } = config.providers.find(({ tag }) => tag === provider) ?? {}
  return state === 'pending' && Date.now() < attemptedAt + timeout * 1_000
}

/** The id at the provider, of itself or of an id that clients see. Undefined where it is another provider's, or no id. */
function providerIdOf(id: string, tag: string): string | undefined {
  const [idTag, ...rest] = id.split('~')
  const providerId = rest.length === 0 ? id : idTag === tag ? rest.join('~') : ''
  return isTransactionId(providerId) ? providerId : undefined
}
