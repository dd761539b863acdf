/** A client's connection and the one that the proxy opened for it, with the toxics between them. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import type { Flow, Toxic } from './toxics.ts'

/** `upstream` is from the client to the provider. */
export type Direction = 'upstream' | 'downstream'

/** A toxic in one direction, until it is lifted. */
export interface Dose {
  readonly toxic: Toxic
  readonly direction: Direction
  readonly lifted: AbortSignal
}

type Treatment = ReturnType<Toxic>

export class Connection {
  /** Resolves when both sides are closed. */
  readonly closed: Promise<unknown>
  private readonly sides: readonly [client: Socket, provider: Socket]
  private readonly doses: () => readonly Dose[]
  private readonly treatments = new Map<Dose, Treatment>()
  private readonly over = new AbortController()

  /** `doses` has what to apply now; the order is the order of the toxics. */
  constructor(client: Socket, target: number, doses: () => readonly Dose[]) {
    const provider = connect({ port: target, host: '127.0.0.1', allowHalfOpen: true })
    this.sides = [client, provider]
    this.doses = doses
    for (const side of this.sides) side.setNoDelay().on('error', () => this.reset())
    this.closed = Promise.all(this.sides.map((side) => once(side, 'close').catch(() => undefined)))
    void this.carry(client, provider, 'upstream')
    void this.carry(provider, client, 'downstream')
  }

  reset(): void {
    this.over.abort()
    for (const side of this.sides) side.resetAndDestroy()
  }

  private close(): void {
    this.over.abort()
    for (const side of this.sides) side.destroySoon()
  }

  private async carry(from: Socket, to: Socket, direction: Direction): Promise<void> {
    try {
      for await (const bytes of from.iterator({ destroyOnReturn: false })) {
        for await (const part of treated(bytes, this.treatmentsOf(direction))) {
          if (this.over.signal.aborted) return
          if (!to.write(part)) await once(to, 'drain', { signal: this.over.signal })
        }
      }
      for (const { end } of this.treatmentsOf(direction)) await end?.()
      to.end()
    } catch {
      if (!this.over.signal.aborted) this.reset()
    }
  }

  private treatmentsOf(direction: Direction): readonly Treatment[] {
    return this.doses()
      .filter((dose) => dose.direction === direction && !dose.lifted.aborted)
      .map((dose) => {
        const treatment = this.treatments.get(dose) ?? dose.toxic(this.flow(dose))
        this.treatments.set(dose, treatment)
        return treatment
      })
  }

  private flow({ lifted }: Dose): Flow {
    const ended = AbortSignal.any([lifted, this.over.signal])
    return { wait: (milliseconds) => pause(milliseconds, ended), close: () => this.close(), reset: () => this.reset() }
  }
}

async function* treated(bytes: Buffer, [first, ...rest]: readonly Treatment[]): AsyncIterable<Buffer> {
  if (!first) return yield bytes
  if (!first.piece) return yield* treated(bytes, rest)
  for await (const part of first.piece(bytes)) yield* treated(part, rest)
}

/** Whether it was ended before its time. */
async function pause(milliseconds: number, ended: AbortSignal): Promise<boolean> {
  if (ended.aborted) return true
  if (milliseconds === Number.POSITIVE_INFINITY) return await once(ended, 'abort').then(() => true)
  return await setTimeout(milliseconds, false, { signal: ended }).catch(() => true)
}
