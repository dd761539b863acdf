/** ioredis: the shared store of limits, proofs and budgets. What it does not answer in time is not done later either. */
import { once } from 'node:events'
import { Cluster, type Redis } from 'ioredis'
import { parseRedisUrl } from '../../domain/redis-url.ts'
import { withTimeout } from '../../domain/with-timeout.ts'
import { createClient } from './client.ts'
import { minReplyTimeoutMs, type ReplyState, ReplyTimeouts } from './reply-timeouts.ts'
import { RedisClock, withScriptDeadline } from './script-deadline.ts'

/** Runs a script on keys of one slot. Throws, within 200 ms, where no answer came. */
export type Script = (keys: readonly string[], args: readonly string[]) => Promise<readonly number[]>

export interface Connection {
  /** A script whose reply is a list of integers; in it, `now` is the clock of Redis in milliseconds. */
  readonly script: (lua: string, numberOfKeys: number) => Script
  /** Another number than before tells that everything was lost in between. */
  readonly generation: () => Promise<number>
  /** Calls back whenever the connection ends. */
  readonly onLoss: (listener: () => void) => void
  readonly close: () => void
}

const connectTimeoutMs = 1_000

const generationScript = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return {tonumber(redis.call('GET', KEYS[1]))}`

/** Resolves once it is connected, or after a second: where Redis is down it is looked for in the background. */
export async function openRedis(url: string): Promise<Connection> {
  const client = createClient(parseRedisUrl(url))
  // Whoever asks learns it; a listener must be there all the same.
  client.on('error', () => {})
  await connected(client)
  const script = scripts(client)
  const generation = script(generationScript, 1)
  return {
    script,
    generation: async () => (await generation(['swapgate:generation'], [randomGeneration()]))[0] ?? 0,
    onLoss: (listener) => void client.on('close', listener),
    close: () => client.disconnect(),
  }
}

/** Another one each time: the process that marks an emptied store must notice it too. */
function randomGeneration(): string {
  return String(Math.floor(Math.random() * 2 ** 48) + 1)
}

async function connected(client: Redis | Cluster): Promise<void> {
  // The nodes of a cluster would be connected with the first command for each, which nothing waits for.
  client.on('+node', (node: Redis) => void node.connect().catch(() => {}))
  const connecting = client.connect().then(() => Promise.all(client instanceof Cluster ? client.nodes('master').map(ready) : []))
  const never = new Promise<never>(() => {}) // where it fails, the client goes on trying
  await withTimeout(
    connecting.catch(() => never),
    connectTimeoutMs,
    () => {},
  )
}

async function ready(node: Redis): Promise<void> {
  if (node.status !== 'ready') await once(node, 'ready')
}

type RedisCommand = (...args: string[]) => Promise<number[]>

function scripts(client: Redis | Cluster): Connection['script'] {
  const clock = new RedisClock()
  const replyTimeouts = new ReplyTimeouts()
  let defined = 0
  return (lua, numberOfKeys) => {
    const name = `swapgate${++defined}`
    client.defineCommand(name, { lua: withScriptDeadline(lua), numberOfKeys })
    const command = (client as unknown as Record<string, RedisCommand>)[name]?.bind(client) as RedisCommand
    const send = (keys: readonly string[], args: readonly string[], replyState: ReplyState): Promise<readonly number[]> =>
      command(...keys, ...args, String(clock.deadlineAfter(minReplyTimeoutMs))).then(([now = 0, ...reply]) => {
        clock.update(now)
        if (reply.length > 0 || replyState.isOver) return reply
        return send(keys, args, replyState) // It is in time after all, since its clock was set; and nothing was done.
      })
    return (keys, args) => replyTimeouts.wait((replyState) => send(keys, args, replyState))
  }
}
