/** The port of the sandbox's server. It can also damage a response. */
import type { Http, HttpResponse } from '../wire/http.ts'

/** The damage: the connection is reset, the body breaks off half-way, or nothing is ever sent. */
export type Damage = 'reset' | 'truncation' | 'silence'

/** A response that the client does not get whole. */
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

/** Serves on loopback only; 0: any free port. Damages each `DamagedResponse` as it requires. */
export type Listen = (handle: Http, port: number) => Promise<Server>
