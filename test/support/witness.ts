/**
 * Records all requests of a rig's clients, their responses, and what its providers did. After each test the checker
 * (`test/checker`) checks the records, and recording begins anew.
 */
import { expect } from 'vitest'
import { violations } from '../checker/checker.ts'
import type { Evidence, Secrets } from '../checker/evidence.ts'
import { History } from '../checker/history.ts'
import type { Journal } from '../checker/provider/journal.ts'
import { afterEachTest } from './after-tests.ts'
import { type ReceivedResponse, type RequestOptions, sendRequest } from './client.ts'
import type { StartedGateway } from './gateway.ts'
import { keyIn, parseRequest, withMarks, withOrder } from './invocation.ts'
import { readLedgerContents } from './ledger-contents.ts'
import { type ManualChanges, withRecordedChanges } from './manual-changes.ts'
import type { Recorder } from './recorder.ts'

interface Watched {
  /** By their tags. */
  readonly providers: Readonly<Record<string, { readonly recorder: Recorder }>>
  /** In managed mode. */
  readonly providerKeys?: Secrets['providerKeys']
  /** The rig that this one continues, with the same ledger and the same providers. */
  readonly follows?: Witness | undefined
  /** Invariants that are not checked for its tests, each with the reason. */
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
  private readonly recorders: Map<string, Recorder>
  private readonly names = new Map<string, string>()
  private readonly excused = new Map<string, string>()
  private history = new History()
  private past: Readonly<Record<string, Journal>> = {}
  private manualChanges: ManualChanges = { assigned: [], notCreated: [] }
  private began = Date.now()
  private gateway: StartedGateway | undefined
  /** The evidence at the time when the rig was closed. */
  private found: Promise<Evidence> | undefined

  constructor(watched: Watched) {
    this.watched = watched
    this.recorders = new Map(Object.entries(watched.providers).map(([tag, { recorder }]) => [tag, recorder]))
    watching.add(this)
    const { follows } = watched
    if (!follows) return
    for (const [key, name] of follows.names) this.names.set(key, name)
    this.history.operations.push(...follows.history.operations)
    this.past = follows.journals()
  }

  /** The gateway for the test; its manual changes are recorded. At the end the ledger of the latest one is read. */
  over(gateway: StartedGateway): StartedGateway {
    this.gateway = withRecordedChanges(gateway, {
      changes: () => this.manualChanges,
      onKeyIssued: (key, account) => void this.names.set(key, account),
      onForget: () => this.begin(),
    })
    return this.gateway
  }

  /** Sends the request, and records it and its response if it is about transactions. */
  async sendRequest(url: string, options: RequestOptions): Promise<ReceivedResponse> {
    const parsed = parseRequest(options)
    if (!parsed) return await sendRequest(url, options)
    const sending = sendRequest(url, options)
    await this.history.record({ client: this.clientOf(options), ...parsed }, () => sending)
    return await sending
  }

  /** Records a request that the test sent itself, with an `X-Request-Id`, and without waiting for a response. */
  pending(options: RequestOptions): void {
    const parsed = parseRequest(options)
    const request = options.headers?.['x-request-id']
    if (!parsed || request === undefined) throw new Error('This request cannot be recorded.')
    this.history.operations.push({ client: this.clientOf(options), ...parsed, outcome: 'info', request, transactions: [] })
  }

  /** Another provider than the rig's has the tag. */
  behind(tag: string, provider: { readonly recorder: Recorder }): void {
    this.recorders.set(tag, provider.recorder)
  }

  /** For the rest of the test this invariant does not hold, for this reason. */
  excuse(invariant: `I${number}`, reason: string): void {
    this.excused.set(invariant, reason)
  }

  /** To be called before the gateway is closed. */
  async close(): Promise<void> {
    this.found ??= this.evidence()
    await this.found
  }

  /** Violations, and excuses that were not needed. Recording begins anew, also if the records cannot be checked. */
  async judge(): Promise<readonly string[]> {
    const isClosed = this.found !== undefined
    try {
      return this.judged(violations(await (this.found ?? this.evidence())))
    } finally {
      this.begin()
      if (isClosed) watching.delete(this)
    }
  }

  private judged(lines: readonly string[]): readonly string[] {
    const excuses = new Set([...this.excused.keys(), ...Object.keys(this.watched.without ?? {})])
    const wrong = lines.filter((line) => !excuses.has(invariantOf(line)))
    const needless = [...this.excused.keys()].filter((name) => !lines.some((line) => invariantOf(line) === name))
    return [...wrong, ...needless.map((name) => `${name} was excused, and holds`)]
  }

  private begin(): void {
    for (const recorder of this.recorders.values()) recorder.forget()
    this.history = new History()
    this.past = {}
    this.manualChanges = { assigned: [], notCreated: [] }
    this.excused.clear()
    this.began = Date.now()
  }

  private clientOf(options: RequestOptions): string {
    const key = keyIn(options)
    return this.names.get(key) ?? key
  }

  private journals(): Readonly<Record<string, Journal>> {
    const now = [...this.recorders].map(([tag, recorder]) => [tag, [...(this.past[tag] ?? []), ...recorder.journal()]] as const)
    return Object.fromEntries(now)
  }

  private async evidence(): Promise<Evidence> {
    const { gateway, manualChanges, began } = this
    const { operations } = this.history
    const journals = Object.entries(this.journals()).map(([tag, journal]) => [tag, withMarks(journal, operations)])
    const keys = new Map([...this.names].map(([key, name]) => [name, [key]]))
    for (const { client } of operations) if (!keys.has(client)) keys.set(client, [client])
    const { providerKeys } = this.watched
    return {
      journals: Object.fromEntries(journals),
      operations: operations.map(withOrder),
      ...(gateway && (await readLedgerContents({ gateway, clients: keys, manualChanges, began }))),
      ...(providerKeys && { secrets: { clientKeys: [...this.names.keys()], providerKeys, logs: [] } }),
    }
  }
}
