/** A provider of Form B that follows a trace of the model. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { digits } from '../support/json.ts'
import { currencies, factsOf, send, termsOf } from './exchange-rows.ts'
import type { Terms } from './trace.ts'

export interface Held {
  readonly id: number
  readonly holder: string
  readonly terms: Terms
  readonly createdAt: string
  isListed: boolean
  isFinished: boolean
}

/** The rows of one read of the list, newest first. `missed` lies behind the first page when it is read, and in it when the second is. */
export interface View {
  readonly rows: readonly number[]
  readonly missed?: number | undefined
}

const pageSize = 100

export class Exchange implements AsyncDisposable {
  readonly transactions = new Map<number, Held>()
  /** What its lists and gets leave out. */
  omitted: readonly string[] = []
  /** Under these ids, a get returns another transaction. */
  readonly wrongIds = new Map<number, number>()
  /** Creates that have come. */
  received = 0
  view: View | 'live' | 'hold' = 'live'
  private readonly server = createServer((request, response) => void this.reply(request, response))
  private readonly holderOf: (key: string) => string
  private arrival: PromiseWithResolvers<ServerResponse> | undefined
  private fillers = 0

  constructor(holderOf: (key: string) => string) {
    this.holderOf = holderOf
  }

  async listen(): Promise<this> {
    await once(this.server.listen(0, '127.0.0.1'), 'listening')
    return this
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`
  }

  /** The next create, or with `view` `hold` the next read of the list, waits for the trace. */
  next(): Promise<ServerResponse> {
    this.arrival = Promise.withResolvers()
    return this.arrival.promise
  }

  /** Takes no more calls, and breaks off those that wait. */
  cut(): void {
    this.server.close()
    this.server.closeAllConnections()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.cut()
  }

  /** 200 with this id; everything else as requested. */
  give(response: ServerResponse, id: number, terms: Terms): void {
    const { createdAt } = this.transactions.get(id) as Held
    const facts = {
      ...factsOf(id),
      amount_out_expected: digits('99.5'),
      rate_type: 'float',
      ...termsOf(id, terms),
      created_at: createdAt,
    }
    send(response, 200, facts)
  }

  /** A page of the list. */
  list(response: ServerResponse, page: number, holder: string): void {
    const view = this.view === 'live' || this.view === 'hold' ? { rows: this.listed(holder) } : this.view
    const rows = view.rows.map((id) => this.listedAs(id))
    if (view.missed === undefined) {
      send(response, 200, { data: page === 1 ? rows : [], count: rows.length })
      return
    }
    // The page is full of rows that mean nothing; each time it is read another one is among them.
    const fillers = Array.from({ length: pageSize }, (_, at) => this.filler(at === 0 ? ++this.fillers : -at))
    const data = page === 1 ? fillers : page === 2 ? [...rows, this.filler(-pageSize)] : []
    send(response, 200, { data, count: pageSize + rows.length + 1 })
  }

  private listed(holder: string): readonly number[] {
    const listed = [...this.transactions.values()].filter((held) => held.isListed && held.holder === holder)
    return listed.map(({ id }) => id).reverse()
  }

  private async reply(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '', this.url)
    const holder = this.holderOf(String(request.headers['x-api-key']))
    for await (const _ of request); // to its end
    if (pathname === '/currencies') return send(response, 200, { data: currencies, count: currencies.length })
    if (request.method === 'POST') {
      this.received++
      return this.arrive(response)
    }
    if (pathname === '/transactions') {
      if (this.view === 'hold') return this.arrive(response)
      return this.list(response, Number(searchParams.get('page') ?? 1), holder)
    }
    const id = Number(pathname.split('tx-')[1])
    if (this.transactions.get(id)?.holder !== holder) return send(response, 404, { message: 'Transaction not found', code: 404 })
    send(response, 200, this.detailed(id))
  }

  private arrive(response: ServerResponse): void {
    this.arrival?.resolve(response)
    this.arrival = undefined
  }

  private listedAs(id: number): object {
    const { createdAt, isFinished } = this.transactions.get(id) as Held
    return { ...factsOf(id, isFinished), amount_out: digits('99.5'), created_at: createdAt }
  }

  private filler(at: number): object {
    return {
      ...factsOf(0),
      id: `filler-${at}`,
      amount_in: digits('7'),
      amount_out: null,
      created_at: new Date(Date.now()).toISOString(),
    }
  }

  private detailed(id: number): object {
    const reportedId = this.wrongIds.get(id) ?? id
    const { terms } = this.transactions.get(reportedId) as Held
    const isOmitted = (about: string) => this.omitted.includes(about)
    return {
      ...this.listedAs(id),
      ...(!isOmitted('network') && { network_from: 'BTC', network_to: terms.network }),
      ...termsOf(reportedId, isOmitted('memo') ? { ...terms, memo: '' } : terms),
      rate: null,
      rate_type: 'float',
      refund_address: null,
      tx_hash_in: null,
      tx_hash_out: null,
    }
  }
}
