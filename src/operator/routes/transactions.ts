import { z } from 'zod'
import { noteRule, settleTransaction, toNote } from '../../cli/ledger/settle.ts'
import { shortRow, wholeRow } from '../../cli/ledger/transaction-row.ts'
import { settledStatuses } from '../../core/ledger-admin.ts'
import { parseTransactionId } from '../../core/transactions/transaction-id.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import { statuses } from '../../domain/status.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'
import { integer, since } from '../values.ts'

const maxPage = 100_000
const note = z.string().refine((text) => toNote(text) !== undefined, `must be ${noteRule}`)

export function transactionRoutes({ stores: { ledgerAdmin, audit }, file }: OperatorParts): readonly Route[] {
  /** Rows have tags. A tag that the file does not have any more is its own name. */
  const tagOf = (provider: string): string => file().providers.find(({ name }) => name === provider)?.tag ?? provider
  return [
    route({
      method: 'GET',
      path: '/transactions',
      summary:
        'Transactions of all accounts for support, newest creation first, with shortened addresses. `provider`: a name or a tag. The search is in the audit log.',
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
          ...(provider !== undefined && { provider: tagOf(provider) }),
        })
        await audit.append({ actor, action: 'transaction.search', subject: String(found.length), after: query })
        return ok({ data: found.map(shortRow), count })
      },
    }),
    route({
      method: 'GET',
      path: '/transactions/{id}',
      summary: 'One of them, whole. That it was read is in the audit log.',
      async handle({ parameter, actor }) {
        const { tag, id } = parseTransactionId(parameter)
        const found = tag === undefined ? undefined : await ledgerAdmin.findTransaction(tag, id)
        if (!found) throw standardFault('notFound')
        await audit.append({ actor, action: 'transaction.read', subject: parameter })
        return ok(wholeRow(found))
      },
    }),
    route({
      method: 'POST',
      path: '/transactions/{id}',
      summary: 'Settles a transaction that needs a person: records the outcome that its client then gets. 409 where it needs none.',
      body: z.strictObject({ status: z.enum(settledStatuses), note }),
      async handle({ parameter, body, actor }) {
        const result = await settleTransaction(parameter, body, { ledgerAdmin, actor })
        if (result.outcome === 'unneeded')
          throw new Fault('inProgress', `${result.message.replace(/^t/, 'T')}.`, { reason: 'refused' })
        if (result.outcome !== 'settled') throw standardFault('notFound')
        return ok(wholeRow(result.found))
      },
    }),
  ]
}
