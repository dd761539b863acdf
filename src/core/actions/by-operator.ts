/** What an operator does about a swap of a client (docs/contract.md §3.11, docs/contract-operators.md §15). */
import { Fault } from '../../domain/fault.ts'
import { gatewayContext } from '../../domain/service.ts'
import { parseTransactionId } from '../../domain/swap.ts'
import type { Capability, SwapAction, SwapActionRequest } from '../../domain/swap-action.ts'
import { outcomeOfRead, type ReadOutcome } from '../failed-reads.ts'
import type { LedgerEntry } from '../ports/ledger.ts'
import { type ActionParts, type Actor, carryOut } from './act.ts'
import { capabilitiesNow } from './capabilities.ts'
import { conflict } from './faults.ts'
import { readAgain, readNow } from './read-again.ts'

/** A person waits for the answer. */
const maxAskMs = 10_000

export interface OperatorActions {
  /** What can be done about it now. */
  readonly capabilitiesOf: (entry: LedgerEntry) => Promise<readonly Capability[]>
  /** Asks the provider about it, once. Throws a `Fault` if it can be asked nothing. */
  readonly ask: (entry: LedgerEntry) => Promise<ReadOutcome>
  /** `request.id`: for clients. Throws a `Fault`; one with `canForce` is carried out if it is forced. `isRepeated`: it was done before. */
  readonly carryOut: (action: SwapAction, request: SwapActionRequest, by: Actor) => Promise<{ readonly isRepeated: boolean }>
}

/** `isManaged`: else only the client has the key. */
export function operatorActions(parts: ActionParts, isManaged: boolean): OperatorActions {
  const { providers, ledger, store } = parts
  return {
    async capabilitiesOf({ provider: tag, transaction, settledAt, doubt }) {
      const scope = isManaged && settledAt === undefined && doubt !== 'contradicted' ? providers.get(tag)?.scope : undefined
      return !scope || scope.state === 'off' ? [] : capabilitiesNow(scope, transaction, store)
    },
    async ask(entry) {
      const provider = isManaged ? providers.get(entry.provider) : undefined
      if (!provider) throw conflict('The provider of this swap is not configured, or only its owner has the key for it.')
      const { capabilities, state, timeoutMs } = provider.scope
      if (state === 'off') throw conflict('The provider of this swap is off: nothing is sent there.')
      try {
        const { isRejected } = await readNow(entry, gatewayContext(capabilities), provider, Math.min(timeoutMs, maxAskMs))
        return { outcome: isRejected ? 'contradicted' : 'done' }
      } catch (reason) {
        return outcomeOfRead(Fault.from(reason))
      }
    },
    async carryOut(action, request, by) {
      const { tag = '', id } = parseTransactionId(request.id)
      const provider = providers.get(tag)
      if (!isManaged || !provider)
        throw new Fault('invalid', 'The provider of this swap is not configured, or only its owner has the key for it.', {
          reason: 'not_offered',
          effect: 'nothingSent',
        })
      const context = gatewayContext(provider.scope.capabilities)
      const { isRepeated, deadline } = await carryOut(action, request, by, context, parts)
      const reading = ledger
        .find(by.owner, tag, id)
        .then((entry) => entry && readAgain(entry, context, provider, deadline - performance.now()))
      // A state that cannot be read now is shown as it was.
      await reading.catch(() => undefined)
      return { isRepeated }
    },
  }
}
