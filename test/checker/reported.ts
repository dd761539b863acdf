/** What providers have and report of transactions, and to which key. */
import type { IncomingHttpHeaders } from 'node:http'
import { type Evidence, effectsOf, heldIn, receivedBy } from './evidence.ts'
import type { Swap } from './order.ts'
import type { Journal } from './provider/journal.ts'
import { type ResponseTransaction, transactionsInAny } from './response-transaction.ts'

interface ProviderResponse {
  readonly provider: string
  readonly operation: string
  /** As it came in the header of either form. */
  readonly key: string
  readonly text: string
}

/**
 * Everything that a provider ever reported of a transaction, by the tagged id: what its create made first (an id
 * that is given twice belongs to the first); what it has; and what it returns in gets and lists.
 */
export function reportsById(evidence: Evidence): ReadonlyMap<string, readonly ResponseTransaction[]> {
  const made = Map.groupBy(effectsOf(evidence), ({ id }) => id)
  const first = [...made.values()].flatMap((effects) => effects.slice(0, 1))
  const held = [...first, ...heldIn(evidence)].flatMap(({ id, swap }) => inBothForms(id, swap))
  const reads = responsesOf(evidence).filter(({ operation }) => operation !== 'create')
  const reported = reads.flatMap(({ provider, text }) =>
    transactionsInAny(text).map((transaction) => ({ ...transaction, id: `${provider}~${transaction.id}` })),
  )
  return Map.groupBy([...held, ...reported], ({ id }) => id)
}

/** The words and ids that a provider itself returned to the holder of a key, which may be a client. */
export function shownIn(evidence: Evidence): ReadonlyMap<string, ReadonlySet<string>> {
  const byKey = Map.groupBy(responsesOf(evidence), ({ key }) => key)
  const wordsIn = ({ provider, text }: ProviderResponse) => [
    ...words(text),
    ...transactionsInAny(text).map(({ id }) => `${provider}~${id}`),
  ]
  return new Map([...byKey].map(([key, texts]) => [key, new Set(texts.flatMap(wordsIn))]))
}

/** As they stand between marks, at the end of a sentence, or before a value. */
export function words(text: string): ReadonlySet<string> {
  return new Set((text.match(/[^\s"'`,;{}[\]()]+/g) ?? []).map((word) => word.replace(/^:|[.:]$/g, '')))
}

function responsesOf({ journals }: Evidence): readonly ProviderResponse[] {
  return Object.entries(journals).flatMap(([provider, journal]) => responsesIn(provider, journal))
}

function responsesIn(provider: string, journal: Journal): readonly ProviderResponse[] {
  const requests = new Map(receivedBy(journal).map((received) => [received.request, received]))
  return journal.flatMap((entry) => {
    const request = entry.what === 'responded' ? requests.get(entry.request) : undefined
    if (!request || entry.what !== 'responded' || entry.text === undefined) return []
    return [{ provider, operation: request.operation, key: keyIn(request.headers), text: entry.text }]
  })
}

function keyIn({ authorization = '', 'x-api-key': key }: IncomingHttpHeaders): string {
  return typeof key === 'string' ? key : authorization.replace(/^Bearer /i, '')
}

function inBothForms(id: string, { from, to, ...facts }: Swap): readonly ResponseTransaction[] {
  const { amount, amountTo, rateType, withdrawalAddress, depositAddress, depositExtraId } = facts
  const extra = depositExtraId === undefined ? {} : { depositExtraId }
  const transaction = { id, amount, amountTo, rateType, withdrawalAddress, depositAddress, ...extra }
  return [
    { ...transaction, coinFrom: from.code, coinTo: to.code },
    { ...transaction, coinFrom: from.coin, coinTo: to.coin },
  ]
}
