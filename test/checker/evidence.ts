/** What the checker reads, once everything is over. */
import type { Operation } from './history.ts'
import type { Order, Swap } from './order.ts'
import type { Applied, Held, Journal, Received } from './provider/journal.ts'

export interface Evidence {
  /** Of each provider, by its tag. */
  readonly journals: Readonly<Record<string, Journal>>
  readonly operations: readonly Operation[]
  /** What each client finds at the end. */
  readonly holdings?: readonly Holding[]
  /** Withdrawal addresses of the gateway's creates of unknown outcome or with a mismatch: one for each create. */
  readonly unresolvedAddresses?: readonly string[]
  /** Everything that the ledger holds. */
  readonly exported?: readonly { readonly id: string; readonly owner: string }[]
  /** Why the ledger could not be read. */
  readonly unreadable?: string
  /** What was given to clients by hand, past the gateway. */
  readonly assignedByHand?: readonly { readonly id: string; readonly client: string }[]
  readonly secrets?: Secrets
}

/** Ids that a client's list has, and those that a get returns. */
export interface Holding {
  readonly client: string
  readonly listed: ReadonlySet<string>
  readonly got: ReadonlySet<string>
}

export interface Secrets {
  /** Issued by the operator: no provider may receive one. */
  readonly clientKeys: readonly string[]
  /** By tag: no other provider may receive it. */
  readonly providerKeys: Readonly<Record<string, string>>
  /** What the gateway printed. */
  readonly logs: readonly string[]
}

/** A line for each breach. */
export type Invariant = (evidence: Evidence) => readonly string[]

/** Its `id` is the tagged one. */
export interface Effect {
  readonly provider: string
  readonly id: string
  readonly swap: Swap
  readonly mark: string
}

/** Everything that was created, at all providers. */
export function effectsOf({ journals }: Evidence): readonly Effect[] {
  return Object.entries(journals).flatMap(([provider, journal]) =>
    journal
      .filter((entry): entry is Applied => entry.what === 'applied')
      .map(({ swap, mark = swap.withdrawalAddress }) => ({ provider, id: taggedId(provider, swap.id), swap, mark })),
  )
}

/** A provider may also apply ids that are no text. */
function taggedId(provider: string, id: unknown): string {
  return `${provider}~${typeof id === 'string' ? id : JSON.stringify(id)}`
}

/** Swaps that were at the providers before, or were changed there, by their tagged ids. */
export function heldIn({ journals }: Evidence): readonly Omit<Effect, 'mark'>[] {
  return Object.entries(journals).flatMap(([provider, journal]) =>
    journal
      .filter((entry): entry is Held => entry.what === 'held')
      .map(({ swap }) => ({ provider, id: `${provider}~${swap.id}`, swap })),
  )
}

export function receivedBy(journal: Journal): readonly Received[] {
  return journal.filter((entry): entry is Received => entry.what === 'received')
}

export type Create = Operation & { readonly order: Order }

/** Creates by what distinguishes them at a provider. */
export function createsByMark({ operations }: Evidence): ReadonlyMap<string, readonly Create[]> {
  const creates = operations.filter((operation): operation is Create => operation.order !== undefined)
  return Map.groupBy(creates, ({ mark, order }) => mark ?? order.withdrawalAddress)
}

/** Creates that are to take effect at most once together: those of one client under one key; one without a key is alone. */
export function intentsOf(creates: readonly Create[]): readonly (readonly Create[])[] {
  const keyOf = (create: Create, at: number) => JSON.stringify([create.client, create.idempotencyKey ?? at])
  return [...Map.groupBy(creates, keyOf).values()]
}
