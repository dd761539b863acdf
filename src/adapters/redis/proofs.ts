/** Proofs that all processes share: a key of Redis for each, which ends with it. */
import type { SharedProofs } from '../../core/shared-proofs.ts'
import type { Connection } from '../redis.ts'

const find = `return {redis.call('PTTL', KEYS[1])}`
const keep = `
redis.call('SET', KEYS[1], 1, 'PX', ARGV[1])
return {1}`

/** Throws where Redis does not answer. `name` stands in the keys. */
export function redisProofs(connection: Pick<Connection, 'script'>, name: 'proof' | 'refused'): SharedProofs {
  const [finding, keeping] = [connection.script(find, 1), connection.script(keep, 1)]
  const keyOf = (identity: string): string => `swapgate:${name}:${identity}`
  return {
    restOf: async (identity) => Math.max(0, (await finding([keyOf(identity)], []))[0] ?? 0),
    add: async (identity, lifetime) => void (await keeping([keyOf(identity)], [String(lifetime)])),
  }
}
