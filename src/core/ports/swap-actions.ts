/** Port: the actions of clients and operators on swaps, in the ledger (docs/contract.md §3.11). When a method resolves, its change is durable. Times are milliseconds since 1970. */
import type { ActionKind, SwapAction } from '../../domain/swap-action.ts'

/** An action that is about to be sent. */
export interface NewSwapAction {
  /** Of this claim alone. */
  readonly claim: string
  /** Tag of the provider, and the swap's id there. */
  readonly provider: string
  readonly id: string
  readonly kind: ActionKind
  readonly action: SwapAction
  /** Whose swap it is. */
  readonly owner: string
  /** For the audit log: who does it, and what. */
  readonly actor: string
  readonly audited: unknown
  /** Where the deposit goes back to, if the action says so. */
  readonly refundAddress?: string | undefined
  readonly refundExtraId?: string | undefined
  readonly claimedAt: number
  /** From then on nobody waits for the response, and it is looked for. */
  readonly nextCheckAt: number
}

/**
 * `sent`: claimed, and perhaps sent: its outcome is not known, and is looked for at `nextCheckAt`, or by a person if that is absent.
 * `done`: the provider has taken it.
 */
export interface StoredSwapAction extends Omit<NewSwapAction, 'actor' | 'audited' | 'nextCheckAt'> {
  readonly state: 'sent' | 'done'
  readonly checkCount: number
  readonly nextCheckAt?: number | undefined
}

export interface SwapActionStore {
  /** Of one swap. */
  readonly readActions: (provider: string, id: string) => Promise<readonly StoredSwapAction[]>
  /** The refund address of the swap's create; empty if it had none. */
  readonly readCreatedWith: (provider: string, id: string) => Promise<Pick<NewSwapAction, 'refundAddress' | 'refundExtraId'>>
  /** Whether the swap was made before the ledger was restored from a backup, and no person has said since that its actions are known. */
  readonly needsConfirmation: (provider: string, id: string) => Promise<boolean>
  /**
   * Stores the action before it is sent, with its record in the audit log. False, without a change, if the swap has one of this kind, has
   * one that brings another address, is not its owner's any more, or was settled.
   * `replaced`: one whose outcome is not known, of which a person knows that it was not carried out.
   */
  readonly claimAction: (action: NewSwapAction, replaced?: StoredSwapAction) => Promise<boolean>
  readonly markActionDone: (action: Pick<NewSwapAction, 'claim'>) => Promise<void>
  /** Deletes it, because the provider has not carried it out and will not. */
  readonly dropAction: (action: Pick<NewSwapAction, 'claim' | 'provider' | 'id'>) => Promise<void>
  /** Of unknown outcome, whose check is due at `now`, longest waiting first, and none of the providers that are `busy`. */
  readonly dueActions: (now: number, maxActions: number, busy?: readonly string[]) => Promise<readonly StoredSwapAction[]>
  /** Takes the current check and schedules the next one; undefined: there is none. False if another process took the check. */
  readonly scheduleNextActionCheck: (action: StoredSwapAction, nextCheckAt: number | undefined) => Promise<boolean>
}
