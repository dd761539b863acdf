/** Checks the invariants of swaps that must hold after every fault, from the recorded evidence. */
import type { Evidence, Invariant } from './evidence.ts'
import { alone } from './invariants/alone.ts'
import { apart } from './invariants/apart.ts'
import { asReported } from './invariants/as-reported.ts'
import { asRequested } from './invariants/as-requested.ts'
import { deposit } from './invariants/deposit.ts'
import { kept } from './invariants/kept.ts'
import { once } from './invariants/once.ts'
import { secret } from './invariants/secret.ts'

const invariants: readonly (readonly [string, Invariant])[] = [
  ['I1', once],
  ['I2', kept],
  ['I3', apart],
  ['I4', asRequested],
  ['I5', asReported],
  ['I6', alone],
  ['I8', secret],
  ['I11', deposit],
]

/** A line for each thing that is wrong, each once. */
export function violations(evidence: Evidence): readonly string[] {
  const lines = invariants.flatMap(([name, invariant]) => invariant(evidence).map((line) => `${name}: ${line}`))
  return [...new Set(lines)]
}
