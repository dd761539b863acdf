/** Batches look-ups of client keys in the ledger. */

export type KeyLookup<Found> = (digest: string) => Promise<Found | undefined>

/** Results by digest. Unknown digests are omitted. */
type FindAll<Found> = (digests: readonly string[]) => Promise<ReadonlyMap<string, Found>>

type PendingKey<Found> = PromiseWithResolvers<Found | undefined>

/** Concurrent look-ups, and keys per look-up. */
const maxInFlight = 4
const maxKeysPerLookup = 500
/** Pause in milliseconds after a look-up with an unknown key. */
const pauseMs = 10

/**
 * Looks up many keys at once. Guessed keys cause at most 400 look-ups a second and use at most four connections of the ledger,
 * at any rate of requests. A valid key waits a few milliseconds and is never rejected because of the guesses.
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

/** Returns whether all keys were found. */
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
