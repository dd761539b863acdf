/** Questions that the gateway answers itself, by its table: nothing is sent to a provider. What providers have is in `service.ts`. */
import type { OperationName, Warning } from './service.ts'

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
  readonly warning?: Warning
}

/** The questions with their answers. */
export interface Questions {
  checkAddress: { request: AddressQuestion; response: AddressAnswer }
}

export type Question = keyof Questions

/** Each throws a `Fault` for a question that cannot be answered. */
export type Answers = { readonly [Q in Question]: (question: Questions[Q]['request']) => Questions[Q]['response'] }

/** What a client's request is, in metrics and logs: an operation, a call of the native lane, or a question. */
export type RequestName = OperationName | Question
