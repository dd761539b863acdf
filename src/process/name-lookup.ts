import { NameLookup } from '../adapters/lookup.ts'
import { poolThreads } from '../config/index.ts'

/** The look-ups of this process. They take at most half of the pool's threads, which are those of the whole process, too (`test/process/silent-names.test.ts`). */
export const { lookup, freshLookup } = new NameLookup({ maxLookups: Math.max(1, Math.floor(poolThreads() / 2)) })

/** Receivers of webhooks, whose names are the clients', have threads of their own; an account has half of them (`test/webhooks/silent-receiver.test.ts`). */
const maxOfReceivers = Math.max(1, Math.min(4, Math.floor(poolThreads() / 4)))
export const receivers = new NameLookup({ maxLookups: maxOfReceivers, maxOfAccount: Math.ceil(maxOfReceivers / 2) })
