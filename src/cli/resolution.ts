import type { Unresolved } from '../core/bookkeeping.ts'
import { isIdentifier } from '../domain/identifier.ts'
import type { ExitCode, Session } from './session.ts'
import { refuse } from './terminal.ts'

/** Settles a create by hand: it exists under this id, or nothing was created. */
export async function resolve(intent: string, id: string | undefined, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  const create = (await stores.bookkeeping.unresolved()).find((unresolved) => unresolved.intent === intent)
  if (!create) return refuse(`no create in doubt has the intent ${intent}`, terminal)
  if (isRunning(create, session)) return refuse(`the create ${intent} may still be running; please try again in a minute`, terminal)
  return id === undefined ? none(intent, session) : bind(create, id, session)
}

async function bind(create: Unresolved, id: string, { stores, terminal }: Session): Promise<ExitCode> {
  const own = ownId(id, create.provider)
  if (own === undefined) return refuse(`${id} is no id at ${create.provider}, where this create was tried`, terminal)
  const outcome = await stores.bookkeeping.bind(create.intent, own, Date.now())
  if (outcome === 'taken') return refuse(`the ledger holds ${create.provider}~${own} already`, terminal)
  if (outcome === 'missing') return refuse(`the create ${create.intent} was settled just now`, terminal)
  terminal.out(`The create ${create.intent} is the transaction ${create.provider}~${own} of its owner.`)
  return 0
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
