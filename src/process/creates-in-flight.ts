/** The creates that this process has begun and not ended, for a person who ends the process. */
import type { Intent, Ledger } from '../core/ports/ledger.ts'
import { DepositInUse } from '../domain/fault.ts'

export class CreatesInFlight {
  private readonly begun = new Map<string, string>()

  /** The provider's tag and the intent of each. */
  list(): readonly string[] {
    return [...this.begun].map(([intent, provider]) => `${provider} ${intent}`)
  }

  /** The same ledger, watched. */
  watch(ledger: Ledger): Ledger {
    const ended = <T>(intent: string, change: Promise<T>): Promise<T> => {
      const end = (): void => void this.begun.delete(intent)
      change.then(end, (reason) => reason instanceof DepositInUse || end())
      return change
    }
    return {
      ...ledger,
      begin: async (intent, isAwaited) => {
        const isBegun = await ledger.begin(intent, isAwaited)
        if (isBegun) this.add(intent)
        return isBegun
      },
      drop: (intent, ...others) => ended(intent, ledger.drop(intent, ...others)),
      markUnknown: (intent, ...others) => ended(intent, ledger.markUnknown(intent, ...others)),
      bindFound: (intent, ...others) => ended(intent, ledger.bindFound(intent, ...others)),
      complete: (intent, ...others) => ended(intent, ledger.complete(intent, ...others)),
      markMismatch: (intent, ...others) => ended(intent, ledger.markMismatch(intent, ...others)),
    }
  }

  private add({ id, provider }: Intent): void {
    this.begun.set(id, provider)
  }
}
