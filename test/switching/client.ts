/** A client that swaps without a pause, and records every wrong response. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { type ReceivedResponse, type RequestOptions, sendRequest } from '../support/client.ts'

export interface Created {
  /** With the tag. */
  readonly id: string
  readonly createdAt: number
}

interface SwapView {
  readonly id: string
  readonly status: string
  readonly withdrawalAddress?: string
  readonly withdrawal_address?: string
}

interface ListView {
  readonly data: readonly { readonly id: string }[]
  readonly pagination?: { readonly total: number }
  readonly count?: number
}

const statuses = ['wait', 'confirmation', 'confirmed', 'exchanging', 'sending', 'success']
const pauseMs = 700
/** Of a 503 for the load of the machine, which has nothing to do with the switch: a client repeats its request (docs/errors.md). */
const loadReasons: ReadonlySet<unknown> = new Set(['overloaded', 'ledger_unavailable'])

export class SwappingClient {
  /** Wrong responses. */
  readonly complaints: string[] = []
  /** Its creates, by id. */
  readonly created = new Map<string, Created>()
  /** Resolves when the swap that is being created now is there, or was refused. */
  underWay: Promise<unknown> = Promise.resolve()
  private readonly form: 'A' | 'B'
  private readonly key: string
  private readonly urls: readonly string[]
  private readonly number: number
  private requests = 0
  private isOver = false

  constructor(number: number, key: string, urls: readonly string[]) {
    this.number = number
    this.form = number % 2 === 0 ? 'A' : 'B'
    this.key = key
    this.urls = urls
  }

  /** `onCreated` is called for each new swap. */
  async run(onCreated: (created: Created) => void): Promise<void> {
    await pause((this.number * 137) % 3_000) // they do not all begin at once
    while (!this.isOver) {
      const creating = this.swap(onCreated)
      this.underWay = creating
      const created = await creating
      if (created) await this.follow(created.id)
      await this.list()
    }
  }

  stop(): void {
    this.isOver = true
  }

  /** Its list must have exactly its own creates. */
  async list(): Promise<void> {
    const list = await this.call<ListView>('GET', '/transactions?size=100', 200)
    if (!list) return
    const total = list.pagination?.total ?? list.count
    if (total !== this.created.size) this.complain(`its list has ${total} transactions instead of ${this.created.size}`)
    const foreign = list.data.find(({ id }) => !this.created.has(id))
    if (foreign) this.complain(`its list has ${foreign.id}, which it did not create`)
  }

  private async swap(onCreated: (created: Created) => void): Promise<Created | undefined> {
    const pair =
      this.form === 'A'
        ? { coinFrom: 'XRP', coinTo: 'USDTERC20' }
        : { coinFrom: 'XRP', networkFrom: 'XRP', coinTo: 'USDT', networkTo: 'ETH' }
    const amount = `1.${this.number}${this.created.size}1`
    await this.call('GET', `/rate?${new URLSearchParams({ ...pair, amount })}`, 200)
    const body = { ...pair, amount: Number(amount), withdrawalAddress: this.address(), rateType: 'float' }
    const view = await this.call<SwapView>('POST', '/transactions', this.form === 'A' ? 201 : 200, body)
    if (!view) return undefined
    const created = { id: view.id, createdAt: Date.now() }
    if (this.created.has(view.id)) this.complain(`two creates got the id ${view.id}`)
    this.created.set(view.id, created)
    onCreated(created)
    return created
  }

  /** Reads it until it has ended: the status never goes back. */
  private async follow(id: string): Promise<void> {
    let last = 0
    while (!this.isOver) {
      await pause(pauseMs)
      const view = await this.call<SwapView>('GET', `/transactions/${encodeURIComponent(id)}`, 200)
      if (!view) continue
      const rank = statuses.indexOf(view.status)
      if (view.id !== id) this.complain(`it got ${view.id} for ${id}`)
      if ((view.withdrawalAddress ?? view.withdrawal_address) !== this.address()) this.complain(`${id} has the address of another`)
      if (rank < last) this.complain(`${id} went back from ${statuses[last]} to ${view.status}`)
      last = Math.max(last, rank)
      if (view.status === 'success') return
    }
  }

  private address(): string {
    return `0xWithdraw${this.number}`
  }

  private async call<T>(method: string, path: string, expected: number, body?: object): Promise<T | undefined> {
    const url = this.urls[this.requests++ % this.urls.length] ?? ''
    const credential = this.form === 'A' ? { authorization: `Bearer ${this.key}` } : { 'x-api-key': this.key }
    const post = { 'content-type': 'application/json', 'idempotency-key': randomUUID() }
    const request: RequestOptions = {
      method,
      path: `/${this.form.toLowerCase()}/api/v2${path}`,
      headers: { ...credential, ...(body && post) },
      ...(body && { body: JSON.stringify(body) }),
    }
    try {
      const { status, headers, text } = await sendUntilTaken(() => sendRequest(url, request))
      if (status === expected) return JSON.parse(text) as T
      this.complain(`${method} ${path} was ${status} ${headers['x-swap-reason']}: ${text}`)
    } catch (reason) {
      this.complain(`${method} ${path} failed: ${String(reason)}`)
    }
    return undefined
  }

  private complain(what: string): void {
    this.complaints.push(`client ${this.number}: ${what}`)
  }
}

/** Waits as long as `Retry-After` requires, as in docs/errors.md. */
async function sendUntilTaken(send: () => Promise<ReceivedResponse>): Promise<ReceivedResponse> {
  for (;;) {
    const response = await send()
    if (!loadReasons.has(response.headers['x-swap-reason'])) return response
    await pause(Number(response.headers['retry-after']) * 1_000)
  }
}
