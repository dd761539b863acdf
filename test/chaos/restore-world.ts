/** Two gateways over a ledger that is restored from backups, before a provider that loses responses and lies; and what clients saw. */
import { copyFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import { Place } from '../cli/place.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { openEvents, type ReceivedEvent } from '../support/event-source.ts'
import { type ProviderA, startFormA, transactionA } from '../support/form-a.ts'
import { startFormB } from '../support/form-b.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { digits, readJson } from '../support/json.ts'
import { orderIn } from '../support/managed.ts'
import { lookNow, orderedSwap } from '../support/outcomes.ts'
import { client } from '../support/pair.ts'
import type { Postgres } from '../support/postgres.ts'
import { execute } from '../support/postgres-server.ts'
import type { Order, Swap } from '../support/swaps.ts'

export const accounts = ['acme', 'globex'] as const
export type Account = (typeof accounts)[number]

/** What a client asks for. Of some accounts several orders have equal terms. */
interface Terms {
  readonly account: Account
  readonly amount: string
  readonly address: string
}

/** How the provider carries out a create. `deposit`: with the deposit address of an open swap. */
export type Lie = 'payout' | 'amount' | 'deposit'

export interface Course {
  readonly terms: Terms
  readonly isKeyed: boolean
  readonly lie: Lie | undefined
  readonly isLost: boolean
}

interface Ordered extends Course {
  readonly number: number
  readonly key: string | undefined
}

/** A swap at the provider, and the order that it was made for. */
interface MadeSwap {
  readonly order: Ordered
  /** What it says of its own, or of the request, is not so. */
  readonly lie: Lie | undefined
  /** As its provider gave it first. */
  readonly deposit: string
  /** The ledger has shown its deposit address since the last restore. */
  isShown: boolean
  /** A get reports another deposit address now. */
  isTurned: boolean
  isWithheld: boolean
}

interface ShownSwap {
  readonly id?: string
  readonly status?: string
  readonly depositAddress?: string
}

const thief = 'TThief1'

export class RestoreWorld implements AsyncDisposable {
  readonly wrong: string[] = []
  private readonly orders: Ordered[] = []
  /** By the provider's id. */
  private readonly swaps = new Map<string, MadeSwap>()
  /** What was told, by the number under which it was: of an account, or of one swap. */
  private readonly told = new Map<string, string>()
  /** The last number that each account was told. */
  private readonly seen = new Map<Account, number>()
  /** Deposit addresses that clients saw since the last restore, and for which swaps. */
  private readonly shown = new Map<string, Set<string>>()
  private readonly backups: string[] = []
  private readonly keys = new Map<Account, string>()
  private gateways: readonly StartedGateway[] = []
  private hasGap = new Set<Account>()
  private readonly alpha: ProviderA
  private readonly beta: Awaited<ReturnType<typeof startFormB>>
  private readonly place: Place
  private readonly postgres: Postgres | undefined

  private constructor(alpha: ProviderA, beta: RestoreWorld['beta'], place: Place, postgres: Postgres | undefined) {
    this.alpha = alpha
    this.beta = beta
    this.place = place
    this.postgres = postgres
  }

  /** `postgres`: undefined for a ledger in SQLite. */
  static async start(postgres: Postgres | undefined): Promise<RestoreWorld> {
    const [alpha, beta] = [await startFormA(), await startFormB()]
    const ledgerUrl = await postgres?.createLedger()
    const place = new Place({ providers: [alpha, beta], ...(ledgerUrl !== undefined && { ledgerUrl }) })
    const world = new RestoreWorld(alpha, beta, place, postgres)
    await world.open()
    for (const account of accounts) world.keys.set(account, await world.gateway(0).issueKey(account))
    await world.backup()
    return world
  }

  async create(course: Course, at: number): Promise<void> {
    const number = this.orders.length + 1
    const order = { ...course, number, key: course.isKeyed ? `order-${number}` : undefined }
    this.orders.push(order)
    await this.send(order, at)
  }

  /** With the same key; the provider is honest by then. */
  async repeat(which: number, at: number): Promise<void> {
    const keyed = this.orders.filter(({ key }) => key !== undefined)
    const order = keyed[which % keyed.length]
    if (order) await this.send({ ...order, lie: undefined, isLost: false }, at)
  }

  async read(which: number, at: number): Promise<void> {
    const id = this.nth(which)
    const swap = this.swaps.get(id ?? '')
    if (!swap) return
    const response = await this.get(swap.order.terms.account, `/transactions/alpha~${id}`, at)
    if (response.status === 200) this.see(swap.order.terms.account, response.json as ShownSwap)
    // From now on the gateway knows what its provider says.
    if (swap.isTurned && response.headers['x-swap-stale'] !== undefined) swap.isWithheld = true
  }

  async list(account: Account, at: number): Promise<void> {
    const { json } = await this.get(account, '/transactions?size=100', at)
    for (const row of (json as { data?: readonly ShownSwap[] }).data ?? []) this.see(account, row)
  }

  /** Goes on where the account's last stream had ended, and reads to the last number that there is. */
  async resume(account: Account, at: number): Promise<void> {
    const { events } = this.gateway(at).stores()
    const owner = await this.ownerOf(account)
    if (owner === undefined) return
    while ((await events.number()).mayBeMore);
    const { last } = await events.rangeOfOwner(owner)
    const told = this.seen.get(account)
    // Who was told nothing has missed nothing: from 1 on is all that it may ask for.
    const seen = told ?? 1
    if (told === undefined ? last <= 1 : seen === last || (seen > last && this.hasGap.has(account))) return
    const source = await openEvents(`${this.gateway(at).url}/a/api/v2/events`, {
      authorization: `Bearer ${this.keys.get(account)}`,
      'last-event-id': String(seen),
    })
    const isOver = ({ event, id }: ReceivedEvent): boolean => (seen > last ? event === 'gap' : Number(id) >= last)
    await expect
      .poll(() => source.events.some(isOver), { message: `the stream of ${account} after ${seen}, to ${last}` })
      .toBe(true)
    source.close()
    for (const { event, id, data } of source.events) {
      if (event === 'gap') this.hasGap.add(account)
      else this.hear(account, account, id, data as ShownSwap)
    }
  }

  /** The state of one swap, which comes at once. */
  async watch(which: number, at: number): Promise<void> {
    const id = this.nth(which)
    const account = this.swaps.get(id ?? '')?.order.terms.account
    if (account === undefined) return
    const key = this.keys.get(account)
    const path = `/a/api/v2/transactions/alpha~${id}/events`
    const source = await openEvents(this.gateway(at).url + path, { authorization: `Bearer ${key}` })
    if (source.status === 200 && source.headers['content-type']?.startsWith('text/event-stream'))
      for (const { id: number, data } of await source.received(1)) this.hear(account, `swap ${id}`, number, data as ShownSwap)
    source.close()
  }

  async look(at: number): Promise<void> {
    await lookNow(this.gateway(at))
  }

  progress(which: number, status: string): void {
    this.change(which, { status })
  }

  /** A get and the list report another deposit address than was shown, or that one again. */
  turn(which: number): void {
    const id = this.nth(which)
    const swap = this.swaps.get(id ?? '')
    if (!swap?.isShown) return
    swap.isTurned = !swap.isTurned
    if (!swap.isTurned) swap.isWithheld = false
    this.change(which, { depositAddress: swap.isTurned ? `1Turned${id}` : swap.deposit })
  }

  async backup(): Promise<void> {
    await this.close()
    this.backups.push(await this.copied())
    await this.open()
  }

  /** An earlier backup becomes the ledger, and a person says so. */
  async restore(which: number): Promise<void> {
    await this.close()
    await this.replace(this.backups[which % this.backups.length] ?? '')
    const { exitCode, err } = await this.place.swapgate('ledger', 'mark-restored')
    if (exitCode !== 0) throw new Error(err.join('\n'))
    this.shown.clear()
    this.hasGap = new Set()
    // What the ledger has forgotten cannot be compared with anything.
    for (const [id, swap] of this.swaps) {
      Object.assign(swap, { isShown: false, isTurned: false, isWithheld: false })
      this.changeSwap(id, { depositAddress: swap.deposit })
    }
    await this.open()
  }

  /** Reads the lists, and a person who knows what was ordered decides: the command confirms the address, and shows the amount. */
  async decide(): Promise<void> {
    await this.place.swapgate('ledger', 'rebuild', 'alpha', 'beta')
    const found = await this.place.facts<readonly { readonly id: string; readonly amountIn: string }[]>('ledger', 'found', 'list')
    for (const { id, amountIn } of found) {
      const swap = this.swaps.get(id.slice('alpha~'.length))
      if (!swap || Number(amountIn) !== Number(swap.order.terms.amount)) continue
      const { key, terms } = swap.order
      // The command prints the amount, which nobody has confirmed: the log has another one.
      if (swap.lie === 'amount') {
        await this.place.swapgate('ledger', 'found', 'dismiss', id, '--note', 'another amount than in the log')
        continue
      }
      const whose = ['--account', terms.account, '--withdrawal-address', terms.address]
      const named = key === undefined ? ['--no-key'] : ['--key', key]
      await this.place.swapgate('ledger', 'found', 'assign', id, ...whose, ...named, '--note', 'by the log')
    }
    for (const gateway of this.gateways) await gateway.followRestores()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
    await Promise.all([this.alpha.close(), this.beta.close()])
    this.place[Symbol.dispose]()
    for (const name of this.postgres ? this.backups : []) await this.administer(`DROP DATABASE IF EXISTS ${name}`)
  }

  private async send(order: Ordered, at: number): Promise<void> {
    const { terms, key } = order
    this.alpha.reply('create', ({ body }) => this.carryOut(readJson(body) as Order, order))
    const facts = { amount: digits(terms.amount), withdrawalAddress: terms.address }
    const headers = key === undefined ? {} : { 'idempotency-key': key }
    const own = { key: this.keys.get(terms.account) ?? '', headers }
    const response = await client('A', this.gateway(at).url).post('/transactions', orderIn('A', facts), own)
    if (response.status !== 201) return
    const shown = response.json as ShownSwap
    this.see(terms.account, shown)
    const made = this.swaps.get(ownId(shown))
    if (key !== undefined && made?.order.number !== order.number)
      this.wrong.push(`${key} of ${terms.account} got ${shown.id}, which was made for ${made?.order.key}`)
  }

  private carryOut(order: Order, ordered: Ordered): { json?: object; status?: number; reset?: true } {
    const { isLost, key, number, terms } = ordered
    const before = [...this.swaps.values()].filter(({ order: of, lie: own }) => of.number === number && own === undefined)
    if (key !== undefined && before.length > 0) this.wrong.push(`${key} was made twice`)
    const id = `swap-${this.swaps.size + 1}`
    const open = this.alpha.holdings.swaps.findLast(({ status }) => status === 'wait')
    const lie = ordered.lie === 'deposit' && !open ? undefined : ordered.lie
    const own = orderedSwap(order, { id })
    const lies: Readonly<Record<Lie, Partial<Swap>>> = {
      payout: { withdrawalAddress: thief },
      amount: { amountIn: digits(`${Number(terms.amount) * 2}`) },
      deposit: open ? { depositAddress: open.depositAddress } : {},
    }
    const made = { ...own, ...(lie && lies[lie]) }
    this.alpha.holdings.swaps = [...this.alpha.holdings.swaps, made]
    this.swaps.set(id, { order: ordered, lie, deposit: made.depositAddress, isShown: false, isTurned: false, isWithheld: false })
    return isLost ? { reset: true } : { status: 201, json: transactionA(made) }
  }

  /** What any client may see of a swap. */
  private see(account: Account, shown: ShownSwap): void {
    const id = ownId(shown)
    const made = this.swaps.get(id)
    if (made?.order.terms.account !== account) this.wrong.push(`${account} sees ${shown.id}, which is another's`)
    const { depositAddress } = shown
    if (!depositAddress || !made) return
    const { lie, isTurned, isWithheld } = made
    if (lie === 'payout' || lie === 'amount') this.wrong.push(`${shown.id} is payable, and its ${lie} is not that of its create`)
    if (isTurned && isWithheld) this.wrong.push(`${shown.id} shows the address ${depositAddress}, which is withheld`)
    if (depositAddress !== made.deposit) this.wrong.push(`${shown.id} shows ${depositAddress}`)
    made.isShown = true
    const ids = this.shown.get(depositAddress) ?? new Set()
    this.shown.set(depositAddress, ids.add(id))
    const open = [...ids].filter((one) => this.alpha.holdings.swaps.some((swap) => swap.id === one && swap.status === 'wait'))
    if (open.length > 1) this.wrong.push(`${open.join(' and ')} have the address ${depositAddress}`)
  }

  /** `of`: what the number counts. */
  private hear(account: Account, of: string, number: string | undefined, data: ShownSwap): void {
    this.see(account, data)
    if (number === undefined) return
    if (of === account) this.seen.set(account, Number(number))
    const what = `${data.id} ${data.status}`
    const before = this.told.get(`${of} ${number}`)
    if (before !== undefined && before !== what) this.wrong.push(`number ${number} of ${of} was ${before}, and is ${what}`)
    this.told.set(`${of} ${number}`, what)
  }

  private nth(which: number): string | undefined {
    return [...this.swaps.keys()][which % this.swaps.size]
  }

  private change(which: number, facts: Partial<Swap>): void {
    this.changeSwap(this.nth(which), facts)
  }

  private changeSwap(id: string | undefined, facts: Partial<Swap>): void {
    const { holdings } = this.alpha
    holdings.swaps = holdings.swaps.map((swap) => (swap.id === id && swap.status !== 'success' ? { ...swap, ...facts } : swap))
  }

  private get(account: Account, path: string, at: number): Promise<ReceivedResponse> {
    return client('A', this.gateway(at).url).get(path, { key: this.keys.get(account) ?? '' })
  }

  private gateway(at: number): StartedGateway {
    const gateway = this.gateways[at % this.gateways.length]
    if (!gateway) throw new Error('no gateway runs')
    return gateway
  }

  /** By any swap of it that the ledger has. */
  private async ownerOf(account: Account): Promise<string | undefined> {
    const [id] = [...this.swaps].find(([, { order, lie }]) => order.terms.account === account && !lie) ?? []
    const found = await this.gateway(0).ledgerAdmin.findTransaction('alpha', id ?? '')
    return found?.entry.owner
  }

  private async open(): Promise<void> {
    const settings = {
      ledger: this.place.ledgerUrl,
      provider: { name: 'alpha', form: 'A', url: this.alpha.url, key: 'provider-key-1' },
      others: { beta: { form: 'B', url: this.beta.url, key: 'provider-key-1' } },
      sections: { auth: { mode: 'managed' }, ledger: { refreshAfter: 0 } },
    }
    this.gateways = [await startGateway(settings), await startGateway(settings)]
  }

  private async close(): Promise<void> {
    for (const gateway of this.gateways) await gateway.close()
    this.gateways = []
  }

  private async copied(): Promise<string> {
    const number = this.backups.length
    if (this.postgres) {
      const name = `${databaseOf(this.place.ledgerUrl)}_${number}`
      await this.administer(`CREATE DATABASE ${name} TEMPLATE ${databaseOf(this.place.ledgerUrl)} STRATEGY FILE_COPY`)
      return name
    }
    const file = join(this.place.directory, `backup-${number}.db`)
    copyFileSync(fileOf(this.place.ledgerUrl), file)
    return file
  }

  private async replace(backup: string): Promise<void> {
    if (this.postgres) {
      const name = databaseOf(this.place.ledgerUrl)
      await this.administer(`DROP DATABASE ${name} WITH (FORCE)`)
      await this.administer(`CREATE DATABASE ${name} TEMPLATE ${backup} STRATEGY FILE_COPY`)
      return
    }
    const file = fileOf(this.place.ledgerUrl)
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true })
    copyFileSync(backup, file)
  }

  private async administer(statement: string): Promise<void> {
    if (this.postgres) await execute(this.postgres.url, statement)
  }
}

function ownId({ id = '' }: ShownSwap): string {
  return id.slice('alpha~'.length)
}

function fileOf(ledgerUrl: string): string {
  return ledgerUrl.slice('sqlite:'.length)
}

function databaseOf(ledgerUrl: string): string {
  return new URL(ledgerUrl).pathname.slice(1)
}
