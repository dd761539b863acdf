import { NameLookup } from '../adapters/lookup.ts'
import { poolThreads } from '../config/index.ts'

/** The look-ups of this process. They take at most half of the pool's threads, which are those of the whole process, too. */
export const { lookup, freshLookup } = new NameLookup({ maxLookups: Math.max(1, Math.floor(poolThreads() / 2)) })
