import { standardFault } from '../../domain/fault.ts'
import { type Layer, onOperations } from '../layer.ts'
import type { Ledger } from '../ledger.ts'
import { ownerOf } from './owner.ts'

/** Sends a client's key to another provider only for transactions that the client created there. Throws `notFound` otherwise (docs/contract.md §5). */
export function createdHereOnly(ledger: Ledger, provider: string): Layer {
  return onOperations({
    async getTransaction(request, context, next) {
      const entry = await ledger.find(ownerOf(context), provider, request.id)
      if (!entry?.isCreated) throw standardFault('notFound')
      return next.call('getTransaction', request, context)
    },
  })
}
