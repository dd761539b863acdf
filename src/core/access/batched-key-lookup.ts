/** Looks up in the ledger what a key may be, for whoever sends one: many keys with one question. */

export type KeyLookup<Found> = (digest: string) => Promise<Found | undefined>

/** By digest; those that are unknown are left out. */
type FindAll<Found> = (digests: readonly string[]) => Promise<ReadonlyMap<string, Found>>

type PendingKey<Found> = PromiseWithResolvers<Found | undefined>

/** Look-ups under way at a time, and keys that one takes. */
const maxInFlight = 4
const maxKeysPerLookup = 500
/** Milliseconds before another look-up follows one that found a key to be unknown. */
const pauseMs = 10

/**
 * Looks up many keys at once. Whoever guesses keys, however fast, causes at most 400 look-ups a second and takes at most four
 * connections of the ledger; a key that exists waits for milliseconds, and is never refused for it.
 */
export function batchedKeyLookup<Found>(findAll: FindAll<Found>): KeyLookup<Found> {
  const pending = new Map<string, PendingKey<Found>>()
  let inFlight = 0
  const takeBatch = (): ReadonlyMap<string, PendingKey<Found>> => {
    const batch = new Map(pending.entries().take(maxKeysPerLookup))
    for (const digest of batch.keys()) pending.delete(digest)
    return batch
  }
  const work = async (): Promise<void> => {
    while (pending.size > 0) {
      const isAllFound = await lookUpBatch(findAll, takeBatch())
      if (!isAllFound) await new Promise((resolve) => setTimeout(resolve, pauseMs).unref())
    }
    inFlight--
  }
  return (digest) => {
    const entry = pending.getOrInsertComputed(digest, () => Promise.withResolvers())
    if (inFlight < maxInFlight) {
      inFlight++
      void work()
    }
    return entry.promise
  }
}

/** Whether all are known. */
async function lookUpBatch<Found>(findAll: FindAll<Found>, keys: ReadonlyMap<string, PendingKey<Found>>): Promise<boolean> {
  try {
    const found = await findAll([...keys.keys()])
    for (const [digest, { resolve }] of keys) resolve(found.get(digest))
    return found.size === keys.size
  } catch (reason) {
    for (const { reject } of keys.values()) reject(reason)
    return true
  }
}
