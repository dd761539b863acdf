/**
 * What is remembered of a caller's transactions where the provider decides whose they are: it completes what the provider's
 * form lacks, for the same key only (`spec/contract.md` §3, §5). Where the ledger fails, answers are as the provider gave them.
 */
import type { Answer, Context, SwapService } from '../domain/operations.ts'
import type { Vocabulary } from '../domain/vocabulary.ts'
import { lookUp, needsDetails } from './completion.ts'
import type { Clock } from './intent.ts'
import { type Layer, on } from './layer.ts'
import type { Entry, Facts, Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { recent } from './recent.ts'
import { shown, sight } from './sighting.ts'
import { withStatus } from './statuses.ts'

export interface MemoryOptions {
  readonly ledger: Ledger
  /** Tag of the provider. */
  readonly provider: string
  /** What its form can say. */
  readonly said: Vocabulary
  readonly clock: Clock
}

export function memory(options: MemoryOptions): Layer {
  const { provider, clock } = options
  const looked = recent(options.ledger, provider)
  return on({
    async getTransaction(request, context, next) {
      const owner = ownerOf(context)
      const recalling = looked.find(owner, provider, request.id).catch(() => undefined)
      const answer = await next.call('getTransaction', request, context)
      if (answer.body.id !== request.id) return answer
      const before = await recalling
      const { body: told, derived = [] } = answer
      const facts = sight(before, { told, derived, at: clock(), isWhole: true })
      if (isNews(before, facts)) keep([facts], owner, looked, provider)
      return withStatus({ ...answer, body: shown(facts, context), derived: facts.derived })
    },
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      return answer.body.items.length === 0 ? answer : remember(answer, context, next, { ...options, looked })
    },
  })
}

/** What the list leaves open is filled from the ledger, else from the provider's details, which are then in the ledger. */
async function remember(
  answer: Answer<'listTransactions'>,
  context: Context,
  service: SwapService,
  options: MemoryOptions & { readonly looked: Pick<Ledger, 'see'> },
): Promise<Answer<'listTransactions'>> {
  const { ledger, provider, said, clock, looked } = options
  const { items } = answer.body
  const owner = ownerOf(context)
  const ids = items.map(({ id }) => id)
  const known = new Map((await ledger.findAll(owner, provider, ids).catch(() => [])).map((entry) => [entry.transaction.id, entry]))
  const open = needsDetails(context, said) ? ids.filter((id) => !isDetailed(known.get(id))) : []
  const details = await lookUp(new Set(open), service, context)
  const at = clock()
  const rows = items.map((told) => {
    const before = known.get(told.id)
    const detail = details.get(told.id)
    const whole = detail && sight(before, { told: detail.body, derived: detail.derived ?? [], at, isWhole: true })
    const latest = whole ? { isCreated: false, ...before, owner, provider, ...whole } : before
    return { before, facts: sight(latest, { told, derived: answer.derived ?? [], at, isWhole: false }) }
  })
  const news = rows.filter(({ before, facts }) => isNews(before, facts)).map(({ facts }) => facts)
  keep(news, owner, looked, provider)
  const derived = [...new Set(rows.flatMap(({ facts }) => facts.derived))]
  return { ...answer, body: { ...answer.body, items: rows.map(({ facts }) => shown(facts, context)) }, derived }
}

/** Nobody waits for it, and what cannot be kept now is kept when it is seen again. */
function keep(news: readonly Facts[], owner: string, ledger: Pick<Ledger, 'see'>, provider: string): void {
  const keepAll = async (): Promise<void> => {
    for (const facts of news) await ledger.see(owner, provider, facts)
  }
  if (news.length > 0) keepAll().catch(() => {})
}

function isDetailed(entry: Entry | undefined): boolean {
  return entry !== undefined && (entry.readAt !== undefined || (entry.isCreated && entry.transaction.depositAddress !== undefined))
}

function isNews(before: Entry | undefined, { transaction, readAt }: Facts): boolean {
  if (!before || (before.readAt === undefined && readAt !== undefined)) return true
  const { status, amountOut, depositAddress } = before.transaction
  return status !== transaction.status || amountOut !== transaction.amountOut || depositAddress !== transaction.depositAddress
}
