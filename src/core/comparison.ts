/** What a provider reports of a transaction, compared with what a create asked for (docs/contract.md §10). */
import { plainAmount } from '../domain/amount.ts'
import { isOn, sameName } from '../domain/asset.ts'
import { toInstant } from '../domain/instant.ts'
import type { NewTransaction, Transaction } from '../domain/swap.ts'
import type { Open } from './ledger.ts'
import type { Naming } from './naming.ts'
import { from, type Side, to, wordsOf } from './pair.ts'
import { contradictedTerms, silentTerms } from './terms.ts'

/** A row of a list, or a get, as far as it could be read; its assets are in the stable words. */
export type Account = Partial<Transaction>

/** Fields of the question, by name. */
export interface Comparison {
  readonly contradicted: readonly string[]
  /** Asked, and not reported. */
  readonly silent: readonly string[]
}

/** A transaction is the create's if it was made so long before or after the attempt, in milliseconds. */
export const before = 120_000
export const after = 600_000

/** `match`: all that was asked is confirmed. `silent`: nothing is contradicted, and something is not confirmed. */
export type Verdict = 'match' | 'silent' | 'other'

/** Several accounts of one transaction: each may confirm what another is silent about, and none may contradict. */
export function judge(
  accounts: readonly Account[],
  { asked, attemptedAt }: Pick<Open, 'asked' | 'attemptedAt'>,
  naming: Naming,
): Verdict {
  const { contradicted, silent } = compareAll(accounts, asked, naming)
  const times = accounts.map(({ createdAt }) => isAround(createdAt, attemptedAt))
  if (contradicted.length > 0 || times.includes(false)) return 'other'
  return silent.length === 0 && times.includes(true) ? 'match' : 'silent'
}

export function compareAll(accounts: readonly Account[], asked: NewTransaction, naming: Naming): Comparison {
  const comparisons = accounts.map((account) => compare(account, asked, naming))
  const [{ silent } = { silent: [] }, ...others] = comparisons
  return {
    contradicted: [...new Set(comparisons.flatMap(({ contradicted }) => contradicted))],
    silent: silent.filter((field) => others.every((other) => other.silent.includes(field))),
  }
}

function compare(account: Account, asked: NewTransaction, naming: Naming): Comparison {
  const assets = [from, to].map((side) => compareAsset(side, account, asked, naming))
  const { amountIn } = account
  const isOther = amountIn !== undefined && plainAmount(amountIn) !== plainAmount(asked.amountIn)
  return {
    contradicted: [
      ...assets.flatMap(({ contradicted }) => contradicted),
      ...(isOther ? ['amountIn'] : []),
      ...contradictedTerms(asked, account),
    ],
    silent: [
      ...assets.flatMap(({ silent }) => silent),
      ...(amountIn === undefined ? ['amountIn'] : []),
      ...silentTerms(asked, account),
    ],
  }
}

function compareAsset(side: Side, account: Account, asked: NewTransaction, { table, byCode }: Naming): Comparison {
  const there = wordsOf(account, side)
  const here = wordsOf(asked, side)
  const isSame = (word: keyof typeof side): boolean => Boolean(there[word] && here[word] && sameName(there[word], here[word]))
  // A word that only the provider's list explains says nothing where that list is not to be had, or has lost it.
  const isUnexplained = isSame('coin') && there.code !== undefined && table.byCode(there.code) === undefined
  const compared = isUnexplained ? words.filter((word) => word !== 'code') : words
  const other = compared.find((word) => there[word] && here[word] && !isSame(word))
  if (other) return { contradicted: [side[other]], silent: [] }
  if (!isSame('code') && !isSame('coin')) return { contradicted: [], silent: [side.coin] }
  // One word for an asset names its network too; and a coin of one network has no other.
  const [only, ...others] = table.coin(here.coin ?? '')?.assets ?? []
  const isOnly = only !== undefined && others.length === 0 && (!here.network || isOn(only, here.network))
  const isWhole = isOnly || isSame('network') || (byCode && isSame('code'))
  return { contradicted: [], silent: isWhole ? [] : [side.network] }
}

const words = ['code', 'coin', 'network'] as const

/** Undefined where the time cannot be told. A time without a zone is in UTC. */
function isAround(createdAt: string | undefined, attemptedAt: number): boolean | undefined {
  const instant = createdAt === undefined ? undefined : instantOf(createdAt)
  if (instant === undefined) return undefined
  const difference = instant - attemptedAt
  return difference >= -before && difference <= after
}

/** In milliseconds. */
export function instantOf(createdAt: string): number | undefined {
  const instant = toInstant(createdAt) ?? toInstant(`${createdAt}Z`)
  return instant === undefined ? undefined : Number(instant / 1_000_000n)
}
