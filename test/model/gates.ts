/** A layer between one process and the ledger: a trace of the model sets the result of each write, and when it happens. */
import type { Intent, Ledger } from '../../src/core/ports/ledger.ts'
import type { WriteOutcome } from './trace.ts'

/** A create that is about to be written. */
export interface Waiting {
  readonly intent: Intent
  readonly pass: (outcome: WriteOutcome) => void
}

type Write = 'begin' | 'complete' | 'drop' | 'markUnknown' | 'markMismatch'
type Call = (...given: readonly unknown[]) => Promise<unknown>

export class Gates {
  /** Of a process that was killed nothing reaches the ledger, and nothing comes back. */
  isDead = false
  /** The intent that is searched for; `all` for every one. */
  wanted: string | undefined
  /** A create that goes on to the next provider does not wait again: this becomes of it. */
  follow: WriteOutcome | undefined
  readonly begun: Intent[] = []
  /** What happens to the writes for an intent, until the trace changes it. */
  readonly outcomes = new Map<string, WriteOutcome>()
  /** The last look for a key, by its owner and the key. */
  private readonly looks = new Map<string, ReturnType<Ledger['findIdempotencyKey']>>()
  private readonly writes = new Map<string, () => void>()
  private readonly silence = Promise.withResolvers<never>()
  private arrival: PromiseWithResolvers<Waiting> | undefined

  /** The next create that is about to be written. */
  next(): Promise<Waiting> {
    this.arrival = Promise.withResolvers()
    return this.arrival.promise
  }

  readonly layer = (ledger: Ledger): Ledger => {
    const own = Object.entries(ledger).map(([name, call]) => [name, this.living(call as Call)] as const)
    const all = Object.fromEntries(own) as unknown as Ledger
    return {
      ...all,
      findIdempotencyKey: (owner, key) => {
        const look = all.findIdempotencyKey(owner, key)
        this.looks.set(JSON.stringify([owner, key]), look)
        return look
      },
      begin: async (intent) => {
        if (await this.isUsed(intent)) return false
        const outcome = this.follow ?? (await this.wait(intent))
        this.begun.push(intent)
        return this.write('begin', () => all.begin(intent), this.outcomes.get(intent.id) ?? outcome) as Promise<boolean>
      },
      complete: (intent, ...result) => this.written('complete', intent, () => all.complete(intent, ...result)),
      drop: (intent) => this.written('drop', intent, () => all.drop(intent)),
      markUnknown: (intent, nextCheckAt) => this.written('markUnknown', intent, () => all.markUnknown(intent, nextCheckAt)),
      markMismatch: (intent, ...result) => this.written('markMismatch', intent, () => all.markMismatch(intent, ...result)),
      dropUnquoted: () => all.dropUnquoted(Number.MAX_SAFE_INTEGER),
      dueCreates: async (_, ...query) => {
        const due = await all.dueCreates(Number.MAX_SAFE_INTEGER, ...query)
        return due.filter(({ intent }) => this.wanted === 'all' || intent === this.wanted)
      },
    }
  }

  /** A key is looked up beside the intent: one that is in use gets none. */
  private async isUsed({ owner, idempotencyKey }: Intent): Promise<boolean> {
    const look = this.looks.get(JSON.stringify([owner, idempotencyKey?.key]))
    return idempotencyKey !== undefined && (await look?.catch(() => undefined)) !== undefined
  }

  /** A killed process waits for no reply any more. */
  end(): void {
    this.silence.promise.catch(() => {})
    this.silence.reject(new Error('The process was killed.'))
  }

  private wait(intent: Intent): Promise<WriteOutcome> {
    const { promise, resolve } = Promise.withResolvers<WriteOutcome>()
    this.arrival?.resolve({ intent, pass: resolve })
    this.arrival = undefined
    return promise
  }

  private async written<T>(name: Write, intent: string, call: () => Promise<T>): Promise<T> {
    try {
      return await this.write(name, call, this.outcomes.get(intent) ?? 'Works')
    } finally {
      if (!this.outcomes.has(intent)) this.writes.get(intent)?.()
    }
  }

  /** When the next write for the intent has been taken. */
  nextWrite(intent: string): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.writes.set(intent, resolve)
    return promise
  }

  private async write<T>(name: Write, call: () => Promise<T>, outcome: WriteOutcome): Promise<T> {
    if (outcome === 'Fails') throw new Error(`${name}: the store is locked`)
    // A store that gets no reply to its COMMIT does it once more, and so learns the result.
    if (outcome === 'ReplyLost') await call()
    return call()
  }

  private living(call: Call): Call {
    return async (...given) => {
      if (this.isDead) return this.silence.promise
      const result = await call(...given)
      return this.isDead ? this.silence.promise : result
    }
  }
}
