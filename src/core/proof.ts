import { Fault } from '../domain/fault.ts'
import { type Caller, keyed } from '../domain/operations.ts'
import { type Layer, layer } from './layer.ts'

/** Who has been accepted lately. It lies where the limits lie. */
export interface Proofs {
  readonly has: (identity: string) => Promise<boolean>
  readonly add: (identity: string) => Promise<void>
}

/** A key is proven by any answer to it but 401 and 403; that the provider could not answer proves nothing. */
export function proof(proofs: Proofs): Layer {
  return layer(async (op, request, context, next) => {
    const prove = async ({ identity }: Caller): Promise<void> => {
      if (keyed.has(op) && identity !== undefined) await proofs.add(identity)
    }
    try {
      const answer = await next.call(op, request, context)
      await prove(context.caller)
      return answer
    } catch (reason) {
      const { kind, provider } = Fault.from(reason)
      const isAccepted = provider !== undefined && (kind === 'invalid' || kind === 'notFound')
      if (isAccepted) await prove(context.caller)
      throw reason
    }
  })
}
