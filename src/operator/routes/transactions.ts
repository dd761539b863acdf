import { z } from 'zod'
import type { Config } from '../../config/index.ts'
import { actOnSwap } from '../../core/operations/act-on-swap.ts'
import { askProvider } from '../../core/operations/ask-provider.ts'
import { auditedText, findSwaps, findTextRule, toFindText } from '../../core/operations/find.ts'
import { readsRow } from '../../core/operations/reads.ts'
import { resolveCreate } from '../../core/operations/resolve.ts'
import { cursorWithoutSecret } from '../../core/operations/secret-ids.ts'
import { noteRule, settleTransaction, toNote } from '../../core/operations/settle.ts'
import { previewSettlement, settlementOutcomes, settleNext } from '../../core/operations/settle-many.ts'
import { swapTimeline } from '../../core/operations/timeline.ts'
import { shortened, shortRow, wholeRow } from '../../core/operations/transaction-row.ts'
import { unresolvedPage } from '../../core/operations/unresolved.ts'
import { settledStatuses } from '../../core/ports/ledger-admin.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { OperatorRole } from '../../domain/operator-role.ts'
import { statuses } from '../../domain/status.ts'
import { parseTransactionId } from '../../domain/swap.ts'
import { capabilityOf, type SwapAction, swapActions } from '../../domain/swap-action.ts'
import { resolvePorts, settlementPorts } from '../../process/ask-providers.ts'
import { NotedReads } from '../noted-reads.ts'
import { despite, integer, ok, okRows, type Route, refused, route, sentence, since } from '../route.ts'
import type { OperatorParts } from '../stores.ts'

const maxPage = 100_000
/** Rows are tags. A tag that the file does not have any more is its own name. */
const tagIn = (file: Config, provider: string): string => file.providers.find(({ name }) => name === provider)?.tag ?? provider
const note = z.string().refine((text) => toNote(text) !== undefined, `must be ${noteRule}`)

const maxBigint = 2n ** 63n - 1n
const sortKey = z
  .string()
  .regex(/^-?\d{1,19}$/)
  .refine((text) => BigInt(text) <= maxBigint && BigInt(text) >= -maxBigint)
/** JSON of a `FindCursor`. */
const findCursor = z
  .string()
  .max(2_000)
  .transform((text, context) => {
    const { data } = z.safeParse(cursorSchema, tryJson(text))
    if (!data) context.issues.push({ code: 'custom', message: 'must be of the Link of a page', input: text })
    return data ?? z.NEVER
  })

const cursorSchema = z.strictObject({
  part: z.int().min(0).max(2),
  at: z.int().min(-1e15).max(1e15),
  key: z.string().max(300),
  position: z.strictObject({ sort_key: sortKey, provider_id: z.string().max(300), provider: z.string().max(20) }).optional(),
})

function tryJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

export function transactionRoutes({ stores: { ledgerAdmin, audit }, file, actions, hasPlainIds }: OperatorParts): readonly Route[] {
  const readTimeline = async (id: string, roles: readonly OperatorRole[]) => {
    const read = await swapTimeline(ledgerAdmin, id, roles.includes('money'))
    if (!read) throw standardFault('notFound')
    const found = read.swap.id === null ? undefined : await findTransaction(ledgerAdmin, read.swap.id)
    const capabilities = found ? await actions().capabilitiesOf(found.entry) : []
    return { ...read, ...(capabilities.length > 0 && { capabilities }) }
  }
  return [
    route({
      method: 'get',
      path: '/api/transactions',
      summary:
        'Transactions of all accounts for support, newest creation first, with shortened addresses. `provider`: a name or a tag. `reads`: of an open one, how current it is, and why it is not. The search is in the audit log.',
      query: z.strictObject({
        account: z.string().optional(),
        provider: z.string().optional(),
        status: z.enum(statuses).optional(),
        since: since.optional(),
        page: integer(1, maxPage, 1),
        size: integer(1, 100, 50),
      }),
      async handle({ query, actor }) {
        const { provider } = query
        const { found, count } = await ledgerAdmin.search({
          ...query,
          ...(provider !== undefined && { provider: tagIn(file(), provider) }),
        })
        // Of nobody it may be anything: an address or a key in the wrong field.
        const audited = found.length > 0 || query.account === undefined ? query : { ...query, account: shortened(query.account) }
        await audit.append({ actor, action: 'transaction.search', subject: String(found.length), after: audited })
        const data = found.map((one) => ({ ...shortRow(one), reads: readsRow(one.entry, one.failedReads) ?? null }))
        return ok({ data, count })
      },
    }),
    route({
      method: 'get',
      path: '/api/find',
      summary:
        "The creates and transactions of which `text` is an id (of the transaction, also the provider's own, of the request, of the create: its intent, or its `Idempotency-Key`), an address in any spelling, or the account, by its name or id. Newest first, with shortened addresses; `Link` has the next page. The search is in the audit log.",
      query: z.strictObject({
        text: z
          .string()
          .transform(toFindText)
          .refine((text) => text !== undefined, `must be ${findTextRule}`),
        after: findCursor.optional(),
        size: integer(1, 100, 50),
      }),
      async handle({ query: { text = '', after, size }, actor, roles }) {
        const isMoney = roles.includes('money')
        // What comes behind a text of the reader's own would tell a secret letter by letter.
        const from = after && (isMoney ? after : cursorWithoutSecret(after, () => false))
        const found = await findSwaps(ledgerAdmin, text, size, from)
        const { rows, next } = found
        const searched = { text: auditedText(text, found) }
        await audit.append({ actor, action: 'transaction.search', subject: String(rows.length), after: searched })
        const shownNext = next && (isMoney ? next : cursorWithoutSecret(next, hasPlainIds))
        const page = shownNext && new URLSearchParams({ text, size: String(size), after: JSON.stringify(shownNext) })
        return page ? { ...ok({ data: rows }), next: `/api/find?${page}` } : ok({ data: rows })
      },
    }),
    route({
      method: 'get',
      path: '/api/transactions/:id',
      summary: 'One of them, whole, with `reads`. That it was read is in the audit log.',
      async handle({ parameter, actor }) {
        const found = await findTransaction(ledgerAdmin, parameter)
        if (!found) throw standardFault('notFound')
        await audit.append({ actor, action: 'transaction.read', subject: parameter })
        return ok({ ...wholeRow(found), reads: readsRow(found.entry, found.failedReads) ?? null })
      },
    }),
    route({
      method: 'get',
      path: '/api/transactions/:id/timeline',
      summary:
        'A create or transaction, by its intent or its id for clients, with what happened to it, in that order: why its provider, each call, each status, each decision of a person; `reads`: when a get last read it, how old its state is, and since when reads fail; `capabilities`: what can be done about it now. Addresses are whole for the role `money`. That it was read is in the audit log.',
      async handle({ parameter, actor, roles }) {
        const read = await readTimeline(parameter, roles)
        await audit.append({ actor, action: 'transaction.read', subject: parameter })
        return ok(read)
      },
    }),
    route({
      method: 'post',
      path: '/api/transactions/:id/read',
      summary:
        'Asks the provider about one of them, once and within its budget, and returns what the timeline has then. `asked`: `outcome` is `done`, or why there is no new state (`timed_out`, `held_back` …), with `cause`. It is in the audit log. 409 where nothing can be asked: a create without a transaction, a provider that is off.',
      async handle({ parameter, actor, roles }) {
        const asked = await askProvider(parameter, actor, { ledgerAdmin, audit, actions: actions() })
        return ok({ asked, ...(await readTimeline(parameter, roles)) })
      },
    }),
    route({
      method: 'post',
      path: '/api/transactions/:id',
      summary: 'Settles a transaction that needs a person: records the outcome that its client then gets. 409 where it needs none.',
      body: z.strictObject({ status: z.enum(settledStatuses), note }),
      async handle({ parameter, body, actor }) {
        const result = await settleTransaction(ledgerAdmin, parameter, body, actor)
        if (result.outcome === 'unneeded') throw refused(result.message)
        if (result.outcome !== 'settled') throw standardFault('notFound')
        return ok(wholeRow(result.found))
      },
    }),
    ...swapActions.map((action) =>
      route({
        method: 'post',
        path: `/api/transactions/:id/${capabilityOf[action]}`,
        summary: actionSummaries[action],
        body: z.strictObject({
          ...(action !== 'continueTransaction' && { address: z.string().optional(), extraId: z.string().optional() }),
          note,
          force: z.boolean().default(false),
        }),
        takesForce: true,
        async handle({ parameter, body, actor }) {
          const { note: why, force: isForced, ...to } = body
          const { address: refundAddress, extraId: refundExtraId } = to as { readonly address?: string; readonly extraId?: string }
          const wanted = { id: parameter, action, refundAddress, refundExtraId, note: why, isForced }
          const { found, isRepeated } = await actOnSwap(wanted, actor, ledgerAdmin, actions())
          return ok({ ...wholeRow(found), isRepeated })
        },
      }),
    ),
  ]
}

const actionSummaries: Readonly<Record<SwapAction, string>> = {
  refundTransaction:
    'Asks the provider to send the deposit back, as its owner may: to `address`, or to the refund address that the swap has. Once; 409 with `canForce` where the outcome of an earlier action is not known: `force` sends it again, so use it only if the provider says that it was not carried out. `isRepeated`: it was done before, and nothing was sent.',
  continueTransaction:
    'Asks the provider to let a held swap go on, as its owner may. Once; 409 with `canForce` where the outcome of an earlier action is not known.',
  setRefundAddress:
    'Sets the refund address of a swap that has none, as its owner may. Once; 409 with `canForce` where the outcome of an earlier one is not known.',
}

function findTransaction(ledgerAdmin: OperatorParts['stores']['ledgerAdmin'], id: string) {
  const { tag, id: own } = parseTransactionId(id)
  return tag === undefined ? Promise.resolve(undefined) : ledgerAdmin.findTransaction(tag, own)
}

/** `<milliseconds since 1970>~<intent>` of the last create of a page. */
const cursor = z
  .string()
  .max(320)
  .regex(/^\d{1,15}~./, 'must be of the Link of a page')
  .transform((text) => ({ attemptedAt: Number.parseInt(text, 10), intent: text.slice(text.indexOf('~') + 1) }))
const id = z.string().min(1).max(300)

export function unresolvedRoutes({ stores, inForce, hasPlainIds }: OperatorParts): readonly Route[] {
  const reads = new NotedReads(stores.audit, 'unresolved.read')
  return [
    route({
      method: 'get',
      path: '/api/unresolved',
      summary:
        'Creates of unknown outcome, creates that a provider contradicted, and transactions that need a person; each the oldest first; the addresses of creates are whole for the role `money`; of more than 1,000 creates `Link` has the next page. That they were read is in the audit log, once a minute.',
      query: z.strictObject({ after: cursor.optional() }),
      async handle({ actor, roles, query }) {
        const shortenedFor = roles.includes('money') ? undefined : hasPlainIds
        const { rows, next } = await unresolvedPage(stores.ledgerAdmin, query.after, shortenedFor)
        await reads.note(actor, rows.length)
        const page = okRows(rows, (row) => row)
        return next ? { ...page, next: `/api/unresolved?after=${next.attemptedAt}~${encodeURIComponent(next.intent)}` } : page
      },
    }),
    route({
      method: 'post',
      path: '/api/unresolved/:intent',
      summary:
        'Settles such a create: it is the transaction `bind`, which is read at the provider first, there is `none`, or `accept`: the response that contradicted the request counts; `note` is for the audit log. 409 while it may still run, and with each contradiction by name, which `despite` overrides; `force` binds what cannot be read at the provider.',
      body: z.union(
        [
          z.strictObject({ bind: id, force: z.boolean().default(false), despite: despite.optional(), note: note.optional() }),
          z.strictObject({ none: z.literal(true), note: note.optional() }),
          z.strictObject({ accept: z.literal(true), despite: despite.optional(), note: note.optional() }),
        ],
        'must be {"bind": "<id>"}, {"none": true} or {"accept": true}',
      ),
      takesForce: true,
      async handle({ parameter, body, actor }) {
        const result = await resolveCreate(parameter, body, resolvePorts(inForce(), stores, actor))
        if (result.outcome === 'done') return ok({ intent: parameter, messages: result.messages })
        if (result.outcome === 'missing') throw new Fault('notFound', sentence(result.message))
        if (result.outcome === 'refused') throw refused(result.message, result.canForce)
        throw new Fault('inProgress', sentence(result.message))
      },
    }),
  ]
}

const rowsPerStep = 100

/** One decision about many rows, with one confirmation. */
export function settlementRoutes({ stores, file, inForce }: OperatorParts): readonly Route[] {
  return [
    route({
      method: 'post',
      path: '/api/settlements',
      isRead: true,
      summary:
        'Shows what one decision would settle, and changes nothing: creates of a provider (`none`, `accept`) or transactions that need a person (a status). `provider`: a name or a tag; `since` and `until`, which is exclusive, are a time or a duration back from now; `reason` is that of the rows of `/api/unresolved`. `confirm` begins with the number of rows, and is good for a day; null where nothing can be settled.',
      body: z.strictObject({
        provider: z.string(),
        account: z.string().optional(),
        since: since.optional(),
        until: since.optional(),
        reason: z.string().optional(),
        outcome: z.enum(settlementOutcomes),
        note,
      }),
      async handle({ body, actor }) {
        const wanted = { ...body, provider: tagIn(file(), body.provider) }
        return ok(await previewSettlement(wanted, settlementPorts(inForce(), stores, actor)))
      },
    }),
    route({
      method: 'post',
      path: '/api/settlements/:confirm',
      summary:
        'Settles the next hundred rows of what was shown, each as by a request of its own, with its own record in the audit log; to be repeated until `remaining` is 0. What came later is not among them, and what has changed since is `left`, with `why`.',
      async handle({ parameter, actor }) {
        const result = await settleNext(parameter, rowsPerStep, settlementPorts(inForce(), stores, actor))
        if (result.outcome === 'missing') throw new Fault('notFound', sentence(result.message))
        return ok(result.progress)
      },
    }),
  ]
}
