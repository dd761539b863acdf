import { type Layer, on } from './layer.ts'
import type { Ledger } from './ledger.ts'
import { ownerOf } from './owner.ts'
import { noTransaction } from './ownership.ts'

/** A client's key goes to another provider only for what it has created there itself (docs/contract.md §5). */
export function custody(ledger: Ledger, provider: string): Layer {
  return on({
    async getTransaction(request, context, next) {
      const entry = await ledger.find(ownerOf(context), provider, request.id)
      if (!entry?.isCreated) throw noTransaction()
      return next.call('getTransaction', request, context)
    },
  })
}
