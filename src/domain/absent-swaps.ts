/** The one place that says that there is no such swap (docs/contract-operators.md §10.6). */
import type { Fault } from './fault.ts'

export interface AbsentSwaps {
  /** Of a swap that its caller does not have, by the provider's tag and id: 404; 503 while a restored ledger may lack it. */
  readonly fault: (provider: string, id: string) => Promise<Fault>
  /** Of values that need not be ids of swaps: 503 if a restored ledger may lack the swap that one of them names. */
  readonly mayBeNamed: (provider: string, values: readonly string[]) => Promise<Fault | undefined>
}
