/** Verified keys that all processes share: a key of Redis for each, with the same expiry. */
import type { SharedVerifiedKeys } from '../../core/access/store-outage.ts'
import type { Connection } from './index.ts'

const findKeyLua = `return {redis.call('PTTL', KEYS[1])}`
const addKeyLua = `
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return {1}`

/** All methods throw if Redis does not respond. `name` is a part of the keys in Redis. */
export function redisVerifiedKeys(
  connection: Pick<Connection, 'prefix' | 'script'>,
  name: 'proof' | 'refused',
): SharedVerifiedKeys {
  const [findScript, addScript] = [connection.script(findKeyLua, 1), connection.script(addKeyLua, 1)]
  const keyOf = (identity: string): string => `${connection.prefix}:${name}:${identity}`
  return {
    remainingMs: async (identity) => Math.max(0, (await findScript([keyOf(identity)], []))[0] ?? 0),
    add: async (identity, lifetime) => void (await addScript([keyOf(identity)], [String(lifetime)])),
  }
}
