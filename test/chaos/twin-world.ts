/** Two gateways in this process whose provider, ledger and clocks fail by a mix of commands; and the violations. */

import { time } from '../model/clock.ts'
import type { Exchange } from '../model/exchange.ts'
import type { ClientName, State, Terms } from '../model/trace.ts'
import { type Process, World } from '../model/world.ts'
import type { ReceivedResponse } from '../support/client.ts'

export interface Made {
  readonly client: ClientName
  readonly key: string
  readonly request: Terms
  /** When it was attempted: swaps of another time cannot be its own. */
  readonly moment: string
  intent?: string
  /** How often it was sent to the provider, and whether that certainly created nothing. */
  sends: number
  isRefused?: boolean
  readonly responses: ReceivedResponse[]
}

/** A swap that the provider holds, and which create made it; 0: another. */
interface Swap {
  readonly id: number
  readonly by: number
  readonly holder: string
  readonly request: Terms
  readonly moment: string
}

type Omitted = State['omitted']

export class TwinWorld implements AsyncDisposable {
  readonly made: Made[] = []
  readonly swaps: Swap[] = []
  /** Returned by gets: id and deposit address. */
  readonly shown: { readonly id: number; readonly deposit: string | undefined }[] = []
  readonly wrong: string[] = []
  /** Intents that reconciliation has completed, also with another, equal swap. */
  readonly found = new Set<string>()
  /** Swaps that the ledger has forgotten as ended. */
  pruned: ReadonlySet<number> = new Set()
  /** Creates whose results the ledger refuses, each in the memory of its process. */
  deferred: { readonly process: Process; readonly intent: string }[] = []
  day = 0
  isAhead = false
  readonly world: World
  private readonly omitted: Omitted

  private constructor(world: World, omitted: Omitted) {
    this.world = world
    this.omitted = omitted
  }

  static async start(isManaged: boolean, omitted: Omitted): Promise<TwinWorld> {
    return new TwinWorld(await World.start({ isManaged, omitted }), omitted)
  }

  /** By the clocks of all machines. */
  get moment(): string {
    return `${this.day}${this.isAhead ? ' ahead' : ''}`
  }

  get exchange(): Exchange {
    return this.world.exchanges.alpha
  }

  account(client: ClientName): string {
    return client === 'bob' ? 'bob' : 'ann'
  }

  holderOf(client: ClientName): string {
    return this.world.isManaged ? 'gateway' : this.account(client)
  }

  ownerOf(client: ClientName): string {
    return this.world.isManaged ? this.account(client) : client
  }

  /** The provider has done it. */
  add(by: number, client: ClientName, request: Terms, isListed: boolean): number {
    const id = this.swaps.length + 1
    const swap = { id, by, holder: this.holderOf(client), request, moment: this.moment }
    this.swaps.push(swap)
    this.exchange.transactions.set(id, {
      ...swap,
      terms: request,
      isListed,
      isFinished: false,
      createdAt: new Date(Date.now()).toISOString(),
    })
    return id
  }

  /** Whether a swap may be a create's own, by the provider's account of it. */
  mayBe({ holder, request: reported, moment }: Swap, create: Made): boolean {
    const request = create.request
    if (holder !== this.holderOf(create.client) || moment !== create.moment) return false
    const isOtherNetwork = !this.omitted.includes('network') && reported.network !== request.network
    const isOtherMemo = !this.omitted.includes('memo') && reported.memo !== '' && reported.memo !== request.memo
    return !isOtherNetwork && !isOtherMemo
  }

  async done(): Promise<ReadonlySet<number>> {
    const ids = new Set<number>()
    for await (const { isCreated, transaction } of this.world.store.ledgerAdmin.export()) {
      if (isCreated) ids.add(Number(transaction.id.slice('tx-'.length)))
    }
    return ids
  }

  /** Creates that wait for reconciliation or a person, by their intents. */
  async open(): Promise<ReadonlyMap<string, string>> {
    return new Map((await this.world.store.ledgerAdmin.unresolved()).map(({ intent, state }) => [intent, state]))
  }

  /** The ledger takes the results that this process, or each, has deferred. */
  async flush(of?: Process): Promise<void> {
    const flushed = this.deferred.filter(({ process }) => !of || process === of)
    this.deferred = this.deferred.filter((each) => !flushed.includes(each))
    const living = flushed.filter(({ process: { gates } }) => !gates.isDead)
    const written = living.map(({ process, intent }) => process.gates.nextWrite(intent))
    for (const { process, intent } of living) process.gates.outcomes.delete(intent)
    await Promise.all(written)
  }

  /** `ledger prune`, up to now. */
  async prune(): Promise<void> {
    const before = await this.done()
    await this.world.store.ledgerAdmin.prune(time.tomorrow(), 'tester')
    this.pruned = this.pruned.union(before.difference(await this.done()))
  }

  /** Reconciliation binds only the one candidate of one create: a mismatch may hide its true result. */
  async reconcile(reconciliation: () => Promise<unknown>): Promise<void> {
    const [heldBefore, openBefore] = [await this.done(), await this.open()]
    const waiting = this.made.filter(({ intent }) => openBefore.has(intent ?? ''))
    const listed = this.swaps.filter(
      ({ id }) => this.exchange.transactions.get(id)?.isListed && !heldBefore.has(id) && !this.pruned.has(id),
    )
    await reconciliation()
    for (const id of (await this.done()).difference(heldBefore)) {
      const swap = this.swaps[id - 1] as Swap
      const creates = waiting.filter((create) => this.mayBe(swap, create))
      const others = listed.filter((other) => creates.some((create) => this.mayBe(other, create)))
      const [create] = creates
      if (!create || creates.length > 1 || others.length !== 1) this.wrong.push(`tx-${id} was bound by a guess`)
      if (create?.intent) this.found.add(create.intent)
      if (create && !isEqual(create.request, swap.request)) this.wrong.push(`tx-${id} is another's`)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]()
  }
}

export function isEqual(one: Terms, other: Terms): boolean {
  return one.memo === other.memo && one.network === other.network
}

function bodyOf({ status, json }: ReceivedResponse): { id?: string; deposit_address?: string } {
  return status === 200 ? (json as object) : {}
}

export function idIn(response: ReceivedResponse): number | undefined {
  const { id } = bodyOf(response)
  return id === undefined ? undefined : Number(id.split('tx-')[1])
}

export function depositIn(response: ReceivedResponse): string | undefined {
  return bodyOf(response).deposit_address
}
