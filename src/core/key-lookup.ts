/** Looks up in the ledger what a key may be, for whoever sends one: many keys with one question. */

export type Lookup<Found> = (digest: string) => Promise<Found | undefined>

/** By digest; those that are unknown are left out. */
type FindAll<Found> = (digests: readonly string[]) => Promise<ReadonlyMap<string, Found>>

type Waiting<Found> = PromiseWithResolvers<Found | undefined>

/** Look-ups under way at a time, and keys that one takes. */
const mostUnderWay = 4
const mostKeys = 500
/** Milliseconds before another look-up follows one that found a key to be unknown. */
const pause = 10

/**
 * Looks up many keys at once. Whoever guesses keys, however fast, causes at most 400 look-ups a second and takes at most four
 * connections of the ledger; a key that exists waits for milliseconds, and is never refused for it.
 */
export function keyLookup<Found>(findAll: FindAll<Found>): Lookup<Found> {
  const waiting = new Map<string, Waiting<Found>>()
  let underWay = 0
  const take = (): ReadonlyMap<string, Waiting<Found>> => {
    const taken = new Map(waiting.entries().take(mostKeys))
    for (const digest of taken.keys()) waiting.delete(digest)
    return taken
  }
  const work = async (): Promise<void> => {
    while (waiting.size > 0) {
      const isAllKnown = await lookUp(findAll, take())
      if (!isAllKnown) await new Promise((resolve) => setTimeout(resolve, pause).unref())
    }
    underWay--
  }
  return (digest) => {
    const entry = waiting.getOrInsertComputed(digest, () => Promise.withResolvers())
    if (underWay < mostUnderWay) {
      underWay++
      void work()
    }
    return entry.promise
  }
}

/** Whether all are known. */
async function lookUp<Found>(findAll: FindAll<Found>, keys: ReadonlyMap<string, Waiting<Found>>): Promise<boolean> {
  try {
    const found = await findAll([...keys.keys()])
    for (const [digest, { resolve }] of keys) resolve(found.get(digest))
    return found.size === keys.size
  } catch (reason) {
    for (const { reject } of keys.values()) reject(reason)
    return true
  }
}
