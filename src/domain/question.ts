/**
 * Questions and actions that a form has beside the five operations, which alone are what a provider has (`service.ts`). The gateway answers them from
 * its table and from quotes.
 */
import type { Amount } from './amount.ts'
import type { StreamName } from './event-stream.ts'
import type { Reason } from './fault.ts'
import type { SandboxRequest } from './sandbox-event.ts'
import type { Context, OperationName, Replay, Warning } from './service.ts'
import type { CurrencyNetwork, CurrencyQuery, Page, Pair, Rate, RateQuery, RateType, Transaction } from './swap.ts'
import { type SwapActionRequest, swapActions } from './swap-action.ts'

/** An address, and the memo or tag for it, of one asset. */
export interface AddressQuestion {
  readonly code?: string | undefined
  readonly coin?: string | undefined
  readonly network?: string | undefined
  readonly address: string
  readonly extraId?: string | undefined
}

export const complaintReasons = ['address_invalid', 'memo_invalid'] as const

/** What is wrong with a field of the question, for programs and, as the end of a sentence, for people. */
export interface Complaint {
  readonly field: 'address' | 'extraId'
  readonly reason: (typeof complaintReasons)[number]
  readonly message: string
}

export interface AddressAnswer {
  readonly isValid: boolean
  /** Empty if the address is valid. */
  readonly complaints: readonly Complaint[]
}

/** A rate type that a pair has. */
export interface OfferedRateType {
  readonly rateType: RateType
  readonly minAmount?: Amount | undefined
  readonly maxAmount?: Amount | undefined
}

/** What is not known of a pair is undefined. */
export interface PairAnswer extends Pair {
  readonly decimalsFrom?: number | undefined
  readonly decimalsTo?: number | undefined
  /** Whether an address may need a memo or tag. */
  readonly needsMemoFrom?: boolean | undefined
  readonly needsMemoTo?: boolean | undefined
  /** What every address matches; a text that matches may still be none. */
  readonly addressPatternFrom?: string | undefined
  readonly addressPatternTo?: string | undefined
  readonly isOffered?: boolean | undefined
  readonly isReverseOffered?: boolean | undefined
  readonly rateTypes: readonly OfferedRateType[]
}

/** A quote of one provider. */
export interface ProviderRate extends Rate {
  /** Its tag. */
  readonly provider: string
}

/** A provider without a quote. */
export interface RateFailure {
  readonly provider: string
  readonly failure: Reason
  /** The end of a sentence if it is about a field of the question, which it names. */
  readonly message: string
  readonly field?: string | undefined
}

export interface RatesAnswer {
  /** Best first. */
  readonly rates: readonly ProviderRate[]
  readonly failures: readonly RateFailure[]
}

export interface CoinNetworksQuestion {
  readonly coin: string
}

/** The questions with their answers. */
export interface Questions {
  checkAddress: { request: AddressQuestion; response: AddressAnswer }
  describePair: { request: Pair; response: PairAnswer }
  listRates: { request: RateQuery; response: RatesAnswer }
  coinNetworks: { request: CoinNetworksQuestion; response: Page<CurrencyNetwork> }
  allNetworks: { request: CurrencyQuery; response: Page<CurrencyNetwork> }
  refundTransaction: { request: SwapActionRequest; response: Transaction }
  continueTransaction: { request: SwapActionRequest; response: Transaction }
  setRefundAddress: { request: SwapActionRequest; response: Transaction }
  driveSandbox: { request: SandboxRequest; response: Transaction }
}

export type Question = keyof Questions

export const questionNames: readonly Question[] = [
  ...(['checkAddress', 'describePair', 'listRates', 'coinNetworks', 'allNetworks'] as const),
  ...swapActions,
  'driveSandbox',
]

/** Questions that need a key. */
export const keyedQuestions: ReadonlySet<Question> = new Set<Question>(['listRates', ...swapActions, 'driveSandbox'])

/** Whether something is done about a swap: it counts as a create, and its answer is the swap. */
export function isAction(question: Question): boolean {
  return question === 'driveSandbox' || (swapActions as readonly Question[]).includes(question)
}

/** Fields of the items of lists in an answer. */
export type AnswerItem = Complaint | OfferedRateType | ProviderRate | RateFailure | CurrencyNetwork

/** An answer with its metadata, as in `ServiceResponse`. */
export interface Answer<Q extends Question> {
  readonly body: Questions[Q]['response']
  readonly provider?: string | undefined
  readonly sources?: readonly string[] | undefined
  readonly derived?: readonly string[] | undefined
  /** Fields of items that a list lacks. */
  readonly omitted?: readonly string[] | undefined
  readonly warning?: Warning | undefined
  /** Of an action, as of a get. */
  readonly staleSeconds?: number | undefined
  /** Set if an earlier request was for the same action. */
  readonly replay?: Replay | undefined
}

/** What has an answer here. Each throws a `Fault` for a question that cannot be answered. */
export type Answers = {
  readonly [Q in Question]?: (question: Questions[Q]['request'], context: Context) => Promise<Answer<Q>>
}

/** What a client's request is, in metrics and logs: an operation, a call of the native lane, a question, or a stream. */
export type RequestName = OperationName | Question | StreamName
