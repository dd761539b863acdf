/** The gateway of one configuration, with the requests that began while it was in force (docs/contract.md §10). */
import type { Config } from '../config/index.ts'
import type { Gateway } from '../gateway/parts.ts'
import type { Http } from '../wire/http.ts'

export class Generation {
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

  pollDraining(): Promise<void> {
    return this.run(this.gateway.pollDraining())
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

/** The generation of the configuration in force. */
export class CurrentGeneration {
  private readonly build: (config: Config) => Generation
  private generation: Generation

  constructor(build: (config: Config) => Generation, config: Config) {
    this.build = build
    this.generation = build(config)
  }

  get connected(): Gateway['connected'] {
    return this.generation.connected
  }

  readonly handle: Http = (request) => this.generation.handle(request)

  reconcile(): Promise<void> {
    return this.generation.reconcile()
  }

  pollDraining(): Promise<void> {
    return this.generation.pollDraining()
  }

  replace(config: Config): void {
    const previous = this.generation
    this.generation = this.build(config)
    previous.retire()
  }
}
