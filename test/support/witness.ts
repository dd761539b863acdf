/**
 * All requests of a rig's clients, their responses, and what its providers did. After each test the checker of `test/faults`
 * judges it, and the evidence begins anew.
 */
import { expect } from 'vitest'
import { violations } from '../checker/checker.ts'
import type { Evidence, Secrets } from '../checker/evidence.ts'
import { History } from '../checker/history.ts'
import type { Journal } from '../checker/provider/journal.ts'
import { afterEachTest } from './after-tests.ts'
import { type ReceivedResponse, type RequestOptions, sendRequest } from './client.ts'
import type { RunningGateway } from './gateway.ts'
import { type Hands, overseen } from './hands.ts'
import { invoked, keyIn, marked, understood } from './invocation.ts'
import { readLedgerContents } from './ledger-contents.ts'
import type { Truth } from './truth.ts'

interface Watched {
  /** By their tags. */
  readonly providers: Readonly<Record<string, { readonly truth: Truth }>>
  /** With issued keys. */
  readonly providerKeys?: Secrets['providerKeys']
  /** The rig that this one continues, on the same ledger and before the same providers. */
  readonly follows?: Witness | undefined
  /** Invariants that its tests are not judged by, each with the reason. */
  readonly without?: Readonly<Record<`I${number}`, string>>
}

const watching = new Set<Witness>()
const invariantOf = (line: string): string => line.split(':')[0] ?? ''

afterEachTest.add(async () => {
  const judged = await Promise.all([...watching].map((witness) => witness.judge()))
  expect(judged.flat()).toEqual([])
})

export class Witness {
  private readonly watched: Watched
  private readonly truths: Map<string, Truth>
  private readonly names = new Map<string, string>()
  private readonly excused = new Map<string, string>()
  private history = new History()
  private past: Readonly<Record<string, Journal>> = {}
  private hands: Hands = { handed: [], dismissed: [] }
  private began = Date.now()
  private gateway: RunningGateway | undefined
  /** What was found when the rig was closed. */
  private found: Promise<Evidence> | undefined

  constructor(watched: Watched) {
    this.watched = watched
    this.truths = new Map(Object.entries(watched.providers).map(([tag, { truth }]) => [tag, truth]))
    watching.add(this)
    const { follows } = watched
    if (!follows) return
    for (const [key, name] of follows.names) this.names.set(key, name)
    this.history.operations.push(...follows.history.operations)
    this.past = follows.journals()
  }

  /** The gateway as a test is to use it: what the test does past it is known. The latest one's ledger is read in the end. */
  over(gateway: RunningGateway): RunningGateway {
    this.gateway = overseen(gateway, {
      hands: () => this.hands,
      issued: (key, account) => void this.names.set(key, account),
      forgot: () => this.begin(),
    })
    return this.gateway
  }

  /** Sends it; requests about transactions and their responses are recorded. */
  async sendRequest(url: string, options: RequestOptions): Promise<ReceivedResponse> {
    const parsed = invoked(options)
    if (!parsed) return await sendRequest(url, options)
    const sending = sendRequest(url, options)
    await this.history.record({ client: this.clientOf(options), ...parsed }, () => sending)
    return await sending
  }

  /** It was sent in a way of the test's own, with an `X-Request-Id`, without waiting for a response. */
  pending(options: RequestOptions): void {
    const parsed = invoked(options)
    const request = options.headers?.['x-request-id']
    if (!parsed || request === undefined) throw new Error('This is nothing that leaves a trace.')
    this.history.operations.push({ client: this.clientOf(options), ...parsed, outcome: 'info', request, seen: [] })
  }

  /** Another provider stands behind the tag than the rig's own. */
  behind(tag: string, provider: { readonly truth: Truth }): void {
    this.truths.set(tag, provider.truth)
  }

  /** For the rest of the test this invariant must not hold, for this reason. */
  excuse(invariant: `I${number}`, reason: string): void {
    this.excused.set(invariant, reason)
  }

  /** To be called before the gateway is closed. */
  async close(): Promise<void> {
    this.found ??= this.evidence()
    await this.found
  }

  /** What is wrong, and which excuse was for nothing. */
  async judge(): Promise<readonly string[]> {
    const isClosed = this.found !== undefined
    const lines = violations(await (this.found ?? this.evidence()))
    const excuses = new Set([...this.excused.keys(), ...Object.keys(this.watched.without ?? {})])
    const wrong = lines.filter((line) => !excuses.has(invariantOf(line)))
    const needless = [...this.excused.keys()].filter((name) => !lines.some((line) => invariantOf(line) === name))
    this.begin()
    if (isClosed) watching.delete(this)
    return [...wrong, ...needless.map((name) => `${name} was excused, and holds`)]
  }

  private begin(): void {
    for (const truth of this.truths.values()) truth.forget()
    this.history = new History()
    this.past = {}
    this.hands = { handed: [], dismissed: [] }
    this.excused.clear()
    this.began = Date.now()
  }

  private clientOf(options: RequestOptions): string {
    const key = keyIn(options)
    return this.names.get(key) ?? key
  }

  private journals(): Readonly<Record<string, Journal>> {
    const now = [...this.truths].map(([tag, truth]) => [tag, [...(this.past[tag] ?? []), ...truth.journal()]] as const)
    return Object.fromEntries(now)
  }

  private async evidence(): Promise<Evidence> {
    const { gateway, hands, began } = this
    const { operations } = this.history
    const journals = Object.entries(this.journals()).map(([tag, journal]) => [tag, marked(journal, operations)])
    const keys = new Map([...this.names].map(([key, name]) => [name, [key]]))
    for (const { client } of operations) if (!keys.has(client)) keys.set(client, [client])
    const { providerKeys } = this.watched
    return {
      journals: Object.fromEntries(journals),
      operations: operations.map(understood),
      ...(gateway && (await readLedgerContents({ gateway, clients: keys, hands, began }))),
      ...(providerKeys && { secrets: { clientKeys: [...this.names.keys()], providerKeys, logs: [] } }),
    }
  }
}
