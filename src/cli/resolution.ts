import type { Unresolved } from '../core/bookkeeping.ts'
import { compareAll } from '../core/comparison.ts'
import type { Facts } from '../core/ledger.ts'
import { namesOf } from '../core/pair.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { ProviderAccount } from './provider-account.ts'
import type { ExitCode, Session } from './session.ts'
import { refuse } from './terminal.ts'

export interface Resolution {
  /** It exists under this id; undefined: nothing was created. */
  readonly id: string | undefined
  /** Whether a transaction that cannot be read at the provider is bound all the same. */
  readonly isForced: boolean
}

/** Settles a create by hand. */
export async function resolve(intent: string, { id, isForced }: Resolution, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  const create = (await stores.bookkeeping.unresolved()).find((unresolved) => unresolved.intent === intent)
  if (!create) return refuse(`no create in doubt has the intent ${intent}`, terminal)
  if (isRunning(create, session)) return refuse(`the create ${intent} may still be running; please try again in a minute`, terminal)
  return id === undefined ? none(intent, session) : bind(create, id, isForced, session)
}

async function bind(create: Unresolved, id: string, isForced: boolean, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  const own = ownId(id, create.provider)
  if (own === undefined) return refuse(`${id} is no id at ${create.provider}, where this create was tried`, terminal)
  // Loaded only where it is wanted.
  const { readAccount } = await import('./provider-account.ts')
  const account = await readAccount(create.provider, own, session)
  const objection = objectionTo(account, create, own, isForced)
  if (objection !== undefined) return refuse(objection, terminal)
  const outcome = await stores.bookkeeping.bind(create.intent, own, Date.now(), factsOf(account, create))
  if (outcome === 'taken') return refuse(`the ledger holds ${create.provider}~${own} already`, terminal)
  if (outcome === 'missing') return refuse(`the create ${create.intent} was settled just now`, terminal)
  terminal.out(`The create ${create.intent} is the transaction ${create.provider}~${own} of its owner.`)
  for (const line of remarksOn(account, create)) terminal.out(line)
  return 0
}

/** Why the provider's account of it does not let it be bound. Silence does not object: to tell is what a person is asked for. */
function objectionTo(account: ProviderAccount, { asked, provider }: Unresolved, id: string, isForced: boolean): string | undefined {
  const name = `${provider}~${id}`
  if (account.outcome === 'missing') return `${provider} has no transaction ${id}`
  if (account.outcome === 'unreadable')
    return isForced ? undefined : `${name} cannot be read there, ${account.why}; --force binds it unread`
  const { body, contradicted = [] } = account.answer
  if (body.id !== id) return `${provider} answers about another transaction than ${id}`
  const fields = [...compareAll([body], asked, account.naming).contradicted, ...contradicted]
  return fields.length === 0 ? undefined : `${name} does not answer the question: it differs in ${fields.join(', ')}`
}

/** What the provider reported, where it could be read. */
function factsOf(account: ProviderAccount, { asked }: Unresolved): Facts | undefined {
  if (account.outcome !== 'read') return undefined
  const { body, derived = [], sequence } = account.answer
  const at = Date.now()
  const transaction = { ...body, status: body.status ?? ('wait' as const), ...namesOf(asked) }
  return { transaction, derived, seenAt: at, readAt: at, sequence }
}

function remarksOn(account: ProviderAccount, { asked, attemptedAt }: Unresolved): readonly string[] {
  if (account.outcome !== 'read') return ['It was not read at the provider: nothing was compared.']
  const { silent } = compareAll([account.answer.body], asked, account.naming)
  const times = `It was attempted at ${new Date(attemptedAt).toISOString()}, and created at ${account.answer.body.createdAt}.`
  return silent.length === 0 ? [times] : [times, `The provider does not confirm ${silent.join(', ')}.`]
}

async function none(intent: string, { stores, terminal }: Session): Promise<ExitCode> {
  if (!(await stores.bookkeeping.none(intent))) return refuse(`the create ${intent} was settled just now`, terminal)
  terminal.out(`The create ${intent} is forgotten: nothing was created, and its Idempotency-Key may be used again.`)
  return 0
}

/** Its answer may come as long as a provider has time. */
function isRunning({ state, provider, attemptedAt }: Unresolved, { config }: Session): boolean {
  const { timeout = 0 } = config.providers.find(({ tag }) => tag === provider) ?? {}
  return state === 'pending' && Date.now() < attemptedAt + timeout * 1_000
}

/** The id at the provider, of itself or of an id that clients see. Undefined where it is another provider's, or no id. */
function ownId(id: string, tag: string): string | undefined {
  const [said, ...rest] = id.split('~')
  const own = rest.length === 0 ? id : said === tag ? rest.join('~') : ''
  return isIdentifier(own) ? own : undefined
}
