/** Two gateways over one ledger file before two providers, as a trace of the model begins. */
import { mkdtempSync, rmSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../../src/config/index.ts'
import { resolveCreate } from '../../src/core/operations/resolve.ts'
import type { Intent } from '../../src/core/ports/ledger.ts'
import type { Budgets } from '../../src/core/resilience/budget-limit.ts'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { resolvePorts } from '../../src/process/ask-providers.ts'
import { ledgerIn } from '../checker/configuration.ts'
import { type ReceivedResponse, sendRequest } from '../support/client.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { time } from './clock.ts'
import { Exchange, type View } from './exchange.ts'
import { Gates, type Waiting } from './gates.ts'
import type { ClientName, ProcessName, ProviderName, State, Terms } from './trace.ts'

export interface Process {
  readonly gateway: StartedGateway
  readonly gates: Gates
}

/** A create of the trace, in the real world. */
export interface Create {
  readonly process: Process
  readonly client: ClientName
  readonly terms: Terms
  /** Undefined where its connection was cut. */
  readonly sent: Promise<ReceivedResponse | undefined>
  response?: ReceivedResponse | undefined
  waiting?: Waiting | undefined
  intent?: Intent
  /** The provider's response, until it is sent. */
  providerResponse?: ServerResponse
}

/** A run of reconciliation that waits for the list. */
export interface PendingListRead {
  readonly exchange: Exchange
  readonly view: View
  readonly done: Promise<void>
  readonly response: ServerResponse | undefined
}

/** What no step of a trace takes; the provider's own timeout is as long. */
const timeout = 60

export class World implements AsyncDisposable {
  readonly processes = new Map<ProcessName, Process>()
  readonly creates = new Map<number, Create>()
  /** Swaps of which a get reported another one: from then on a repeated create may show no deposit. */
  readonly doubted = new Set<number>()
  /** Lists that are being read, by the create that is searched for. */
  readonly listReads = new Map<number, PendingListRead>()
  /** Reads the ledger beside the processes, and is never in their way. */
  readonly store: OpenLedger
  /** Which provider has no budget left for a create. */
  exhausted: ProviderName | undefined
  readonly isManaged: boolean
  private config: Config | undefined
  readonly exchanges: Readonly<Record<ProviderName, Exchange>>
  private readonly ledger: string
  private readonly ended: Process[] = []
  private readonly open: AsyncDisposable
  private keys: Readonly<Record<ClientName, string>> = { 'ann-1': 'key-of-ann-1', 'ann-2': 'key-of-ann-2', bob: 'key-of-bob' }

  private constructor(isManaged: boolean, exchanges: World['exchanges'], ledger: string, store: OpenLedger, open: AsyncDisposable) {
    this.isManaged = isManaged
    this.exchanges = exchanges
    this.ledger = ledger
    this.store = store
    this.open = open
  }

  static async start({ isManaged, omitted }: Pick<State, 'isManaged' | 'omitted'>, ledger?: string): Promise<World> {
    await using open = new AsyncDisposableStack()
    time.reset()
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-replay-'))
    open.defer(() => rmSync(directory, { recursive: true }))
    const holderOf = (key: string) => (isManaged ? 'gateway' : key.includes('ann') ? 'ann' : 'bob')
    const exchanges = {
      alpha: open.use(await new Exchange(holderOf).listen()),
      beta: open.use(await new Exchange(holderOf).listen()),
    }
    for (const exchange of Object.values(exchanges)) exchange.omitted = omitted
    const place = ledger ?? `sqlite:${ledgerIn(directory)}`
    const store = await openLedger(place, { now: time.ledger })
    open.defer(store.close)
    const world = new World(isManaged, exchanges, place, store, open.move())
    for (const name of ['north', 'south'] as const) await world.restart(name)
    if (isManaged) await world.issueKeys()
    return world
  }

  async restart(name: ProcessName): Promise<void> {
    const gates = new Gates()
    const facts = (of: ProviderName) => ({
      form: 'B',
      url: this.exchanges[of].url,
      timeout,
      extraIds: true,
      ...(this.exchanges[of].omitted.includes('network') && { networks: 'unconfirmed' }),
      ...(this.isManaged && { key: `own-${of}` }),
    })
    const budgets: Budgets = {
      reserve: async (bucket) => ({ isGranted: bucket !== `${this.exhausted}:create`, remaining: 1_000, retryAfter: 1 }),
    }
    const managed = { auth: { mode: 'managed' }, routing: { providers: ['alpha', 'beta'] } }
    const gateway = await startGateway({
      provider: { name: 'alpha', ...facts('alpha') },
      others: { beta: facts('beta') },
      ledger: this.ledger,
      ledgerLayer: gates.layer,
      ledgerClock: time.ledger,
      budgets,
      preverifiedKeys: Object.values(this.keys),
      sections: {
        ...(this.isManaged && managed),
        ledger: { refreshAfter: 0 },
        cache: { currencies: 600, rate: 0, staleFor: 86_400 },
      },
    })
    this.config = gateway.config
    this.processes.set(name, { gateway, gates })
  }

  /** Nothing that it does from now on has an effect; what it sent to a provider is there. */
  kill(name: ProcessName): void {
    const { gateway, gates } = this.processes.get(name) as Process
    gates.isDead = true
    this.processes.delete(name)
    this.ended.push({ gateway, gates })
    gateway.cut()
  }

  /** One that runs; which one, nothing depends on. */
  get some(): Process {
    return [...this.processes.values()][0] as Process
  }

  sendRequest(
    process: Process,
    client: ClientName,
    path: string,
    create?: { readonly body: object; readonly key: string },
  ): Promise<ReceivedResponse> {
    const headers = { 'x-api-key': this.keys[client], ...(create && { 'content-type': 'application/json' }) }
    const named = create?.key ? { 'idempotency-key': create.key } : {}
    const body = create && JSON.stringify(create.body)
    const method = create ? 'POST' : 'GET'
    return sendRequest(process.gateway.url, {
      method,
      path: `/b/api/v2${path}`,
      headers: { ...headers, ...named },
      ...(body && { body }),
    })
  }

  /** As an operator does it that forces only what is right; a refusal is ignored here. */
  async resolve({ intent }: Create, id: string | undefined, isRight: boolean): Promise<void> {
    if (!intent) return
    // A create that was cut off is at an end for the operator too.
    const create = (await this.store.ledgerAdmin.unresolved()).find((unresolved) => unresolved.intent === intent.id)
    if (create?.state === 'pending') await this.store.ledger.markUnknown(intent.id, Date.now())
    const resolution = id === undefined ? ({ none: true } as const) : { bind: id, force: !this.isManaged && isRight }
    await resolveCreate(intent.id, resolution, resolvePorts(this.config as Config, this.store, 'tester'))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const exchange of Object.values(this.exchanges)) exchange.cut()
    for (const [name] of this.processes) this.kill(name)
    for (const { gates } of this.ended) gates.end()
    await Promise.all(this.ended.map(({ gateway }) => gateway.close()))
    await this.open[Symbol.asyncDispose]()
  }

  private async issueKeys(): Promise<void> {
    const { gateway } = this.some
    this.keys = {
      'ann-1': await gateway.issueKey('ann'),
      'ann-2': await gateway.issueKey('ann'),
      bob: await gateway.issueKey('bob'),
    }
  }
}
