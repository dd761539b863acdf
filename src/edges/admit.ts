/** Authentication and admission of a request. */
import { Fault, standardFault } from '../domain/fault.ts'
import type { KeyScope } from '../domain/key-access.ts'
import { scopeOf } from '../domain/policy.ts'
import { type Caller, keyed, type Op } from '../domain/service.ts'
import type { HttpRequest } from '../wire/http.ts'
import { idempotencyKeyIn } from './idempotency-key.ts'
import { isInHeader, type KeyBeside } from './key-beside-header.ts'
import type { ClientEdge, RequestRecord } from './record.ts'

/** What the choice of the form found out about the key. */
interface KeyOfMount {
  /** The key header of another form has a malformed value. */
  readonly isKeyMalformed?: boolean
  /** The header of another form's key, if the request has it. */
  readonly otherKeyHeader?: string | undefined
}

/** What a request is for. */
interface Purpose {
  /** The operation in whose limits it counts. */
  readonly op: Op
  /** Absent: as the operation does. */
  readonly needsKey?: boolean | undefined
  /** What the request says of its key outside the header; absent where nothing can. */
  readonly beside?: KeyBeside | undefined
  /** Whether it is the operation itself, so that a create that was sent before counts as a read. */
  readonly isOperation: boolean
}

/** Authenticates the caller and counts the request for its limits. Throws a `Fault` if the request is rejected. */
export async function admit(
  request: HttpRequest,
  mounted: KeyOfMount,
  { op, needsKey = keyed.has(op), beside, isOperation }: Purpose,
  record: RequestRecord,
  edge: ClientEdge,
): Promise<Caller> {
  const span = record.span?.begin('admission')
  try {
    const caller = await callerOf(request, mounted.isKeyMalformed ?? false, needsKey, record, edge, beside)
    record.caller = caller
    const { quota, refusal } = await edge.gate(
      isOperation && isAskedAgain(request, op, caller, edge) ? 'getTransaction' : op,
      caller,
      needsKey,
    )
    record.quota = quota
    if (refusal) throw refusal.kind === 'unauthorized' ? keyRefusal(refusal, request, mounted, record, beside) : refusal
    requireScope(caller, op, record)
    span?.end()
    return caller
  } catch (reason) {
    span?.end(Fault.from(reason))
    throw reason
  }
}

/** Milliseconds. A body that takes no longer makes no difference. */
const promptBodyMs = 100

/** Once the body is there, before anything is done: the key may have ended since the head came, at `admittedAt` on the clock of `performance.now()`. */
export async function requireKeyStill(
  { key, address }: Caller,
  op: Op,
  record: RequestRecord,
  { identify }: ClientEdge,
  admittedAt: number,
): Promise<void> {
  if (key === undefined || performance.now() - admittedAt < promptBodyMs) return
  const known = await identify(key, false, address)
  if (!known) throw standardFault('unauthorized')
  requireScope(known, op, record)
}

function requireScope({ scope }: Pick<Caller, 'scope'>, op: Op, { operation }: RequestRecord): void {
  const needed = operation === 'native' ? 'native' : scopeOf[op]
  if (scope && !scope.includes(needed)) throw beyondScope(needed)
}

/** A create under a key whose create was sent is a read. A key that is not valid is refused later, with the content. */
function isAskedAgain(request: HttpRequest, op: Op, { identity }: Caller, edge: ClientEdge): boolean {
  if (op !== 'createTransaction' || identity === undefined || !edge.isAskedAgain) return false
  const key = idempotencyKeyIn(request)
  return key !== undefined && edge.isAskedAgain(identity, key)
}

/** If an operation needs no key, a key whose lookup fails is ignored. */
function callerOf(
  { headers, address = '' }: HttpRequest,
  isKeyMalformed: boolean,
  needsKey: boolean,
  { form: { credential } }: RequestRecord,
  { identify }: ClientEdge,
  beside: KeyBeside | undefined,
): Promise<Caller> {
  const isBesideMalformed = beside?.isMalformed ?? false
  const key = isBesideMalformed ? undefined : (credential.decode(headers) ?? beside?.key)
  if (key === undefined)
    return Promise.resolve({ address, isKeyUnknown: isKeyMalformed || isBesideMalformed || isInHeader(headers, credential) })
  return identify(key, !needsKey, address).then(
    (known) => {
      if (!known) return { address, isKeyUnknown: true }
      const { identity, account, keyId, scope, limits } = known
      return { address, key, identity, account, keyId, scope, limits }
    },
    (reason) => {
      if (needsKey) throw reason
      return { address, isKeyUnknown: true }
    },
  )
}

function beyondScope(scope: KeyScope): Fault {
  return new Fault('unauthorized', `The API key is not for this: it has no scope \`${scope}\`.`, { reason: 'key_scope' })
}

/** Says how the form takes its key, unless it came in that way. */
function keyRefusal(
  { reason }: Fault,
  { headers }: HttpRequest,
  { otherKeyHeader }: KeyOfMount,
  { form: { name, credential, keyMember } }: RequestRecord,
  beside: KeyBeside | undefined,
): Fault {
  const [value = ''] = Object.values(credential.encode('<key>'))
  const wanted = `${credential.name}: ${value}`
  if (reason === 'key_missing') {
    const other = otherKeyHeader === undefined ? '' : `, and not in ${otherKeyHeader}`
    const orMember = keyMember === undefined ? '' : `, or as ${keyMember} in the body of a create`
    return new Fault('unauthorized', `The API key is missing; Form ${name} takes it as ${wanted}${orMember}${other}.`, { reason })
  }
  if ((credential.decode(headers) ?? beside?.key) !== undefined) return standardFault('unauthorized')
  return new Fault('unauthorized', `The API key is malformed; Form ${name} takes it as ${wanted}.`)
}
