/** What a client lets happen to a swap of the built-in sandbox (docs/contract-operators.md §14). */

/** It is paid; a check holds it; it fails; its deposit is sent back. */
export const sandboxEvents = ['pay', 'hold', 'fail', 'refund'] as const

export type SandboxEvent = (typeof sandboxEvents)[number]

export interface SandboxRequest {
  readonly id: string
  readonly event: SandboxEvent
}

/** `absent`: the sandbox has no such swap. The others: the swap is not in a state for this. */
export type SandboxOutcome = 'done' | 'absent' | 'paid' | 'unpaid' | 'ended'

/** The sandbox that runs in this process, or in the one that started it. */
export interface SandboxControl {
  /** The origin of its port: a provider there is this sandbox. */
  readonly url: string
  /** `id`: its own, without a tag. Whose swap it is was found out before. */
  readonly drive: (id: string, event: SandboxEvent) => Promise<SandboxOutcome>
}
