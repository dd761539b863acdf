/** The gateway of one configuration, with the requests that began while it was in force (docs/contract.md §10). */
import type { Gateway } from '../gateway/process-scope.ts'
import type { Http } from '../wire/http.ts'

export class RunningGateway {
  private readonly gateway: Gateway
  private readonly release: () => void
  private inFlight = 0
  private isRetired = false

  /** `release` closes what the gateway uses. It is called once, when the gateway is retired and its requests have ended. */
  constructor(gateway: Gateway, release: () => void) {
    this.gateway = gateway
    this.release = release
  }

  private readonly end = (): void => {
    this.inFlight--
    this.releaseIfIdle()
  }

  get connected(): Gateway['connected'] {
    return this.gateway.connected
  }

  readonly handle: Http = (request) => this.run(this.gateway.handle(request))

  reconcile(): Promise<void> {
    return this.run(this.gateway.reconcile())
  }

  pollTransactions(): Promise<void> {
    return this.run(this.gateway.pollTransactions())
  }

  readWatched(): Promise<void> {
    return this.run(this.gateway.readWatched())
  }

  get operatorActions(): Gateway['operatorActions'] {
    const { capabilitiesOf, ask, carryOut } = this.gateway.operatorActions
    return {
      capabilitiesOf: (entry) => this.run(capabilitiesOf(entry)),
      ask: (entry) => this.run(ask(entry)),
      carryOut: (action, request, by) => this.run(carryOut(action, request, by)),
    }
  }

  /** No request begins here any more. */
  retire(): void {
    this.isRetired = true
    this.gateway.retire()
    this.releaseIfIdle()
  }

  private run<T>(work: Promise<T>): Promise<T> {
    this.inFlight++
    work.then(this.end, this.end)
    return work
  }

  private releaseIfIdle(): void {
    if (this.isRetired && this.inFlight === 0) this.release()
  }
}
