/** Who waits for the ledger: accounts take turns, and creates leave connections to the rest (docs/contract-operators.md §10.4). */
import type { LedgerWaits } from '../core/access/admission.ts'
import type { Ledger } from '../core/ports/ledger.ts'
import { withTimeout } from '../domain/async.ts'
import { LedgerBusy } from '../domain/fault.ts'
import type { Observer } from '../domain/observation.ts'
import { Turns } from '../domain/turns.ts'

/** How many calls of all accounts run at the same time. */
export interface TurnLimits {
  /** Of creates, before they are sent. */
  readonly creates: number
  /** Of gets and lists; infinite where they wait for nothing. */
  readonly reads: number
}

/** From then on a caller waits no longer for its turn, so that a create has some of its second left for the ledger itself. */
const maxTurnWaitMs = 600
/** The longest wait for a single row, and for the beginning of a create. */
const maxWaitMs = 1_000

/** The same ledger, in turns, and the waits of an account. What creates have to store after their response waits for no turn. */
export function inTurns(
  ledger: Ledger,
  turns: TurnLimits,
  observe: Observer,
): { ledger: Ledger; ledgerWaits: (account: string) => LedgerWaits } {
  const creates = new Turns(turns.creates, {
    maxWaitMs: maxTurnWaitMs,
    onRefusal: () => observe({ what: 'turnRefused', work: 'create' }),
  })
  const reads = new Turns(turns.reads, {
    maxWaitMs: maxTurnWaitMs,
    onRefusal: () => observe({ what: 'turnRefused', work: 'read' }),
  })
  const ledgerWaits = (account: string): LedgerWaits => ({ readMs: reads.waitMs(account), writeMs: creates.waitMs(account) })
  const withCreates: Ledger = {
    ...ledger,
    begin(...args) {
      const { promise, resolve, reject } = Promise.withResolvers<boolean>()
      const work = () => {
        const begun = ledger.begin(...args)
        begun.then(resolve, reject)
        return withTimeout(begun, maxWaitMs, () => undefined) // its request is over, and a silent server does not keep its turn
      }
      creates.run(args[0].owner, work).catch(reject)
      return promise
    },
    keepFirmQuote: (...args) => creates.run(args[0].owner, () => ledger.keepFirmQuote(...args)),
  }
  if (turns.reads === Number.POSITIVE_INFINITY) return { ledger: withCreates, ledgerWaits }
  const withReads: Ledger = {
    ...withCreates,
    findIdempotencyKey: (...args) => reads.run(args[0], () => ledger.findIdempotencyKey(...args)),
    findFirmQuote: (...args) => reads.run(args[0], () => ledger.findFirmQuote(...args)),
    find: (...args) =>
      withTimeout(
        reads.run(args[0], () => ledger.find(...args)),
        maxWaitMs,
        busy,
      ),
    findAll: (...args) => reads.run(args[0], () => ledger.findAll(...args)),
    list: (...args) => reads.run(args[0], () => ledger.list(...args)),
    someOpen: (...args) => reads.run(args[0], () => ledger.someOpen(...args)),
    listElsewhere: (...args) => reads.run(args[0], () => ledger.listElsewhere(...args)),
    upsert: (...args) => reads.run(args[0], () => ledger.upsert(...args)),
  }
  return { ledger: withReads, ledgerWaits }
}

function busy(): never {
  throw new LedgerBusy(`timeout: the ledger has not answered within ${maxWaitMs} ms`)
}
