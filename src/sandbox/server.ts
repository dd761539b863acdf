/** What the sandbox needs of a server: one that can also fail to answer. */
import type { Http, HttpResponse } from '../wire/http.ts'

/** What becomes of an answer on its way: the connection is reset, the body breaks off half-way, nothing is ever sent. */
export type Damage = 'reset' | 'truncation' | 'silence'

/** An answer that the client does not get whole. */
export class DamagedResponse implements HttpResponse {
  readonly damage: Damage
  readonly status: number
  readonly headers: HttpResponse['headers']
  readonly body: string

  constructor(damage: Damage, { status, headers, body }: HttpResponse) {
    this.damage = damage
    this.status = status
    this.headers = headers
    this.body = body
  }
}

export interface Server {
  readonly port: number
  readonly close: () => Promise<void>
}

/** Serves on loopback only, on any free port where `port` is 0, and does to a `DamagedResponse` what it says. */
export type Listen = (handle: Http, port: number) => Promise<Server>
