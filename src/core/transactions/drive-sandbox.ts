/** Swaps of the built-in sandbox are driven by their owners (docs/contract-operators.md §14). */
import { withValue } from '../../domain/context-values.ts'
import { Fault, standardFault } from '../../domain/fault.ts'
import type { Answers } from '../../domain/question.ts'
import type { SandboxControl, SandboxOutcome } from '../../domain/sandbox-event.ts'
import type { SwapService } from '../../domain/service.ts'
import { parseTransactionId } from '../../domain/swap.ts'
import { isReadAnew } from './ownership.ts'

/** `service`: all providers, behind their layers. `tags`: of the providers that are this sandbox. Another one's swap is not found, and its provider is not asked. */
export function driveSandbox(
  service: SwapService,
  sandbox: SandboxControl,
  tags: ReadonlySet<string>,
  untagged: string | undefined,
): Required<Pick<Answers, 'driveSandbox'>> {
  return {
    async driveSandbox({ id: requestedId, event }, context) {
      const { tag = untagged, id } = parseTransactionId(requestedId)
      if (tag === undefined || !tags.has(tag)) throw standardFault('notFound')
      await service.call('getTransaction', { id: requestedId }, context) // 404 for another's
      const fault = faultOf(await sandbox.drive(id, event))
      if (fault) throw fault
      const { body, provider, derived, staleSeconds } = await service.call(
        'getTransaction',
        { id: requestedId },
        withValue(context, isReadAnew, true),
      )
      return { body, provider, derived, staleSeconds }
    },
  }
}

function faultOf(outcome: SandboxOutcome): Fault | undefined {
  if (outcome === 'done') return undefined
  return outcome === 'absent' ? standardFault('notFound') : new Fault('conflict', conflicts[outcome], { effect: 'refused' })
}

const conflicts = {
  paid: 'This swap has its deposit already.',
  unpaid: 'This swap has no deposit that could be sent back.',
  ended: 'This swap has ended.',
} as const
