import { z } from 'zod'
import { toIso } from '../../cli/timestamp.ts'
import type { FoundTransaction } from '../../core/ledger-admin.ts'
import { formatTransactionId, parseTransactionId } from '../../core/transactions/transaction-id.ts'
import { standardFault } from '../../domain/faults/standard-fault.ts'
import { statuses } from '../../domain/swap/status.ts'
import { ok, type Route, route } from '../route.ts'
import type { OperatorParts } from '../stores.ts'
import { integer, since } from '../values.ts'

const maxPage = 100_000

export function transactionRoutes({ stores: { ledgerAdmin, audit } }: OperatorParts): readonly Route[] {
  return [
    route({
      method: 'GET',
      path: '/transactions',
      summary: 'Transactions of all accounts for support, newest creation first, with shortened addresses.',
      query: z.strictObject({
        account: z.string().optional(),
        provider: z.string().optional(),
        status: z.enum(statuses).optional(),
        since: since.optional(),
        page: integer(1, maxPage, 1),
        size: integer(1, 100, 50),
      }),
      async handle({ query }) {
        const { found, count } = await ledgerAdmin.search(query)
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
  ]
}

function wholeRow({ entry, account }: FoundTransaction) {
  const { provider, transaction, reportedAt, fetchedAt, changedAt, isCreated } = entry
  return {
    ...transaction,
    id: formatTransactionId(provider, transaction.id),
    account: account ?? null,
    provider,
    status: transaction.status ?? null,
    isCreated,
    reportedAt: toIso(reportedAt),
    fetchedAt: toIso(fetchedAt),
    changedAt: toIso(changedAt),
  }
}

const addressFields = ['depositAddress', 'withdrawalAddress', 'refundAddress'] as const

function shortRow(found: FoundTransaction) {
  const row = wholeRow(found)
  const addresses = addressFields.flatMap((field) => (row[field] === undefined ? [] : [[field, shortened(row[field])] as const]))
  return { ...row, ...Object.fromEntries(addresses) }
}

/** The first six and the last four characters; a short one loses most of them. */
function shortened(address: string): string {
  return address.length <= 12 ? `${address.slice(0, 2)}…` : `${address.slice(0, 6)}…${address.slice(-4)}`
}
