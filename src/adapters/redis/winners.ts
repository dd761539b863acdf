/** Winners of quotes that all replicas share: a key of Redis for each, with the same expiry. */
import type { WinnerStore } from '../../core/routing/winners.ts'
import { toAmount } from '../../domain/amount.ts'
import type { Connection } from './index.ts'

// A reply of a script is a list of integers: the bytes of `tag amount`, none where there is no winner.
const findWinnerLua = `
local winner = redis.call('GET', KEYS[1])
if not winner then return {0} end
return {string.byte(winner, 1, -1)}`
const saveWinnerLua = `
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return {1}`

/** Both methods throw if Redis does not respond. */
export function redisWinners(connection: Pick<Connection, 'prefix' | 'script'>, lifetimeMs: number): WinnerStore {
  const [find, save] = [connection.script(findWinnerLua, 1), connection.script(saveWinnerLua, 1)]
  const keyOf = (key: string): string => `${connection.prefix}:winner:${key}`
  return {
    async find(key) {
      const bytes = await find([keyOf(key)], [])
      if (!bytes[0]) return undefined
      const [tag = '', amount = ''] = String.fromCharCode(...bytes).split(' ')
      return { tag, amountOut: toAmount(amount) }
    },
    save: async (key, { tag, amountOut }) => void (await save([keyOf(key)], [`${tag} ${amountOut ?? ''}`, String(lifetimeMs)])),
  }
}
