/** ioredis: the shared store of limits, verified keys and budgets. A script that times out has no effect later. */
import { once } from 'node:events'
import type { LookupFunction } from 'node:net'
import { Cluster, type Redis } from 'ioredis'
import { withTimeout } from '../../domain/async.ts'
import { parseRedisUrl } from '../../domain/redis-url.ts'
import { createClient } from './client.ts'
import { ScriptDeadlines, withScriptDeadline } from './script-deadline.ts'

/** Runs a script on keys of one slot. Throws after at most 200 ms without a reply. */
export type Script = (keys: readonly string[], args: readonly string[]) => Promise<readonly number[]>

export interface Connection {
  /** The beginning of every key, before a colon. */
  readonly prefix: string
  /** For libraries that take a client. Their scripts need a deadline, too. */
  readonly client: Redis | Cluster
  readonly deadlines: ScriptDeadlines
  /** Prepares a script whose reply is a list of integers. In the script, `now` is the clock of Redis in milliseconds. */
  readonly script: (lua: string, numberOfKeys: number) => Script
  /** A number that changes when Redis has lost its data. */
  readonly generation: () => Promise<number>
  /** Calls the listener each time the connection ends. */
  readonly onLoss: (listener: () => void) => void
  readonly close: () => void
}

const connectTimeoutMs = 1_000

const generationScript = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return {tonumber(redis.call('GET', KEYS[1]))}`

/** Resolves when connected, or after a second: if Redis is down, the client keeps trying in the background. */
export async function openRedis(url: string, prefix: string, lookup: LookupFunction): Promise<Connection> {
  const client = createClient(parseRedisUrl(url), lookup)
  // Each command reports its error; but without a listener the event would end the process.
  client.on('error', () => {})
  await connected(client)
  const deadlines = new ScriptDeadlines()
  const script = scripts(client, deadlines)
  const generation = script(generationScript, 1)
  return {
    prefix,
    client,
    deadlines,
    script,
    generation: async () => (await generation([`${prefix}:generation`], [randomGeneration()]))[0] ?? 0,
    onLoss: (listener) => void client.on('close', listener),
    close: () => client.disconnect(),
  }
}

/** Random, so that the process that marks an emptied store notices the change too. */
function randomGeneration(): string {
  return String(Math.floor(Math.random() * 2 ** 48) + 1)
}

async function connected(client: Redis | Cluster): Promise<void> {
  // Connect all nodes of a cluster now: by default a node connects with its first command, which would time out.
  client.on('+node', (node: Redis) => void node.connect().catch(() => {}))
  const connecting = client.connect().then(() => Promise.all(client instanceof Cluster ? client.nodes('master').map(ready) : []))
  const never = new Promise<never>(() => {}) // after a failure the client keeps trying
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

function scripts(client: Redis | Cluster, deadlines: ScriptDeadlines): Connection['script'] {
  let defined = 0
  return (lua, numberOfKeys) => {
    const name = `swapgate${++defined}`
    client.defineCommand(name, { lua: withScriptDeadline(lua), numberOfKeys })
    const command: RedisCommand = Reflect.get(client, name).bind(client)
    return (keys, args) =>
      deadlines.run(async (deadlineMs) => {
        const [now, ...value] = await command(...keys, ...args, String(deadlineMs))
        return value.length > 0 ? { now, value } : { now }
      })
  }
}
