/** Networks on which a provider's deposit addresses are shared: without its memo, a deposit there is lost (docs/contract.md §3.5). */
import { memoOf } from '../domain/address/same-address.ts'
import { type Asset, fold } from '../domain/asset.ts'
import { Fault } from '../domain/fault.ts'
import type { Context } from '../domain/operations.ts'
import type { Transaction } from '../domain/swap.ts'
import { namesByCode } from '../domain/vocabulary.ts'
import { type Layer, on } from './layer.ts'
import type { Naming, Words } from './naming.ts'
import { from, wordsOf } from './pair.ts'
import { recognise } from './recognition.ts'

export interface DepositMemoOptions {
  /** By name or alias. */
  readonly networks: readonly string[]
  /** Whether the provider carries memos at all. */
  readonly isTaken: boolean
  readonly naming: Naming
}

/**
 * A create's answer without the memo contradicts its question; a get or a row of a list without it has no address to pay to.
 * Where the provider carries no memos, coins from these networks are not offered. Stands where the words are the provider's.
 */
export function depositMemo({ networks, isTaken, naming }: DepositMemoOptions): Layer {
  if (networks.length === 0) return (next) => next
  const { isShared, mayBeShared } = sharing(new Set(networks.map(fold)), naming)
  const refuseUntaken = ({ pair = {}, client }: Context): void => {
    if (!isTaken && isShared(wordsOf(pair, from))) throw notOffered(namesByCode(client) ? from.code : from.coin)
  }
  const withoutLostAddress = (row: Transaction): Transaction => {
    const words = wordsOf(row, from)
    return lacksMemo(row) && mayBeShared(recognise(words, naming) ?? words) ? { ...row, depositAddress: undefined } : row
  }
  return on({
    getRate(request, context, next) {
      refuseUntaken(context)
      return next.call('getRate', request, context)
    },
    async createTransaction(request, context, next) {
      refuseUntaken(context)
      const answer = await next.call('createTransaction', request, context)
      if (!lacksMemo(answer.body) || !isShared(wordsOf(context.pair ?? {}, from))) return answer
      return { ...answer, contradicted: [...(answer.contradicted ?? []), 'depositExtraId'] }
    },
    async getTransaction(request, context, next) {
      const answer = await next.call('getTransaction', request, context)
      const body = withoutLostAddress(answer.body)
      return body === answer.body ? answer : { ...answer, body, contradicted: ['depositExtraId'] }
    },
    async listTransactions(request, context, next) {
      const answer = await next.call('listTransactions', request, context)
      return { ...answer, body: { ...answer.body, items: answer.body.items.map(withoutLostAddress) } }
    },
  })
}

function lacksMemo({ depositAddress, depositExtraId }: Transaction): boolean {
  return Boolean(depositAddress) && memoOf(depositAddress, depositExtraId) === undefined
}

interface Sharing {
  /** Of an asset whose network is known. */
  readonly isShared: (names: Words) => boolean
  /** Also where the network is not known, and one of the coin's is shared. */
  readonly mayBeShared: (names: Words) => boolean
}

function sharing(networks: ReadonlySet<string>, { table }: Naming): Sharing {
  const isOnOne = ({ network, aliases }: Asset): boolean => [network, ...aliases].some((name) => networks.has(fold(name)))
  const networksOf = ({ code, coin, network }: Words): readonly boolean[] => {
    const asset = code === undefined ? table.find(coin ?? '', network ?? '') : table.byCode(code)
    if (asset) return [isOnOne(asset)]
    return network === undefined ? (table.coin(coin ?? '')?.assets ?? []).map(isOnOne) : [networks.has(fold(network))]
  }
  return {
    isShared: (names) => {
      const each = networksOf(names)
      return each.length > 0 && each.every(Boolean)
    },
    mayBeShared: (names) => networksOf(names).some(Boolean),
  }
}

function notOffered(field: string): Fault {
  return new Fault('invalid', 'it is not offered here', { field, certain: true, reason: 'not_offered' })
}
