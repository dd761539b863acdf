import { Fault } from '../domain/fault.ts'
import { keyed } from '../domain/operations.ts'
import { keyLookup } from './key-lookup.ts'
import { type Layer, layer } from './layer.ts'
import type { Ledger } from './ledger.ts'
import type { RefusedAddresses } from './refused-addresses.ts'

/** Who has been accepted lately. It lies where the limits lie. */
export interface Proofs {
  readonly has: (identity: string) => Promise<boolean>
  readonly add: (identity: string) => Promise<void>
}

/** Milliseconds after the last acceptance. */
export const proofLifetime = 3_600_000

/** Proofs, and whoever the ledger knows: it is asked of many keys at once, since anybody may send any number of them. */
export function provenBy(proofs: Proofs, ledger: Pick<Ledger, 'knownOwners'>): Proofs {
  const find = keyLookup(async (owners) => new Map([...(await ledger.knownOwners(owners))].map((owner) => [owner, true])))
  return {
    has: async (identity) => (await proofs.has(identity)) || (await find(identity).catch(() => false)) === true,
    add: proofs.add,
  }
}

/** A key is proven by any answer to it but 401 and 403, which are noted of its address; no answer proves nothing. */
export function proof(proofs: Proofs, refusedAddresses: RefusedAddresses): Layer {
  /** Nobody waits for it, and one that cannot be kept changes no answer: the key only has to prove itself again. */
  const note = (identity: string): void => {
    proofs.add(identity).catch(() => {})
  }
  return layer((op, request, context, next) => {
    const answer = next.call(op, request, context)
    const { identity } = context.caller
    if (!keyed.has(op) || identity === undefined) return answer
    return answer.then(
      (told) => {
        note(identity)
        return told
      },
      (reason) => {
        const { kind, provider } = Fault.from(reason)
        if (provider === undefined) throw reason
        if (kind === 'unauthorized') refusedAddresses.add(context.caller.address)
        else note(identity)
        throw reason
      },
    )
  })
}
