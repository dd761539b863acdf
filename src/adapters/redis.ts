/** ioredis: the shared store of limits, proofs and budgets. What it does not answer in time is not done later either. */
import { once } from 'node:events'
import { Cluster, type Redis } from 'ioredis'
import { addressOf } from './redis/address.ts'
import { createClient } from './redis/client.ts'
import { DistantClock, fenced } from './redis/fence.ts'

/** Runs a script on keys of one slot. Throws, within 200 ms, where no answer came. */
export type Script = (keys: readonly string[], args: readonly string[]) => Promise<readonly number[]>

export interface Connection {
  /** A script whose reply is a list of integers; in it, `now` is the clock of Redis in milliseconds. */
  readonly script: (lua: string, numberOfKeys: number) => Script
  /** Another number than before tells that everything was lost in between. */
  readonly generation: () => Promise<number>
  readonly close: () => void
}

/** Milliseconds. */
const patience = 200
/** A bound on memory: more calls than this are not sent. */
const mostWaiting = 10_000
const startPatience = 1_000

const generationScript = `
redis.call('SET', KEYS[1], ARGV[1], 'NX')
return {tonumber(redis.call('GET', KEYS[1]))}`

/** Resolves once it is connected, or after a second: where Redis is down it is looked for in the background. */
export async function openRedis(url: string): Promise<Connection> {
  const client = createClient(addressOf(url))
  // Whoever asks learns it; a listener must be there all the same.
  client.on('error', () => {})
  await connected(client)
  const script = scripts(client)
  const generation = script(generationScript, 1)
  const draft = String(Math.floor(Math.random() * 2 ** 48) + 1)
  return {
    script,
    generation: async () => (await generation(['swapgate:generation'], [draft]))[0] ?? 0,
    close: () => client.disconnect(),
  }
}

async function connected(client: Redis | Cluster): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, startPatience)
  // The nodes of a cluster would be connected with the first command for each, which nothing waits for.
  client.on('+node', (node: Redis) => void node.connect().catch(() => {}))
  client
    .connect()
    .then(() => Promise.all(client instanceof Cluster ? client.nodes('master').map(ready) : []))
    .then(() => resolve())
    .catch(() => {})
  await promise
  clearTimeout(timer)
}

async function ready(node: Redis): Promise<void> {
  if (node.status !== 'ready') await once(node, 'ready')
}

type Sent = (...args: string[]) => Promise<number[]>

function scripts(client: Redis | Cluster): Connection['script'] {
  const clock = new DistantClock()
  let defined = 0
  let waiting = 0
  return (lua, numberOfKeys) => {
    const name = `swapgate${++defined}`
    client.defineCommand(name, { lua: fenced(lua), numberOfKeys })
    const command = (client as unknown as Record<string, Sent>)[name]?.bind(client) as Sent
    const send = (keys: readonly string[], args: readonly string[], isRepeated = false): Promise<readonly number[]> => {
      const latest = performance.now() + patience
      return command(...keys, ...args, String(clock.after(patience))).then(([now = 0, ...reply]) => {
        clock.hear(now)
        if (reply.length > 0) return reply
        if (isRepeated || performance.now() > latest) throw new Error('Redis was too late, and did nothing.')
        return send(keys, args, true) // It was in time: its clock was set, and nothing was done.
      })
    }
    return (keys, args) => {
      if (waiting >= mostWaiting) return Promise.reject(new Error('Too much is waiting for Redis.'))
      waiting++
      return inTime(send(keys, args)).finally(() => waiting--)
    }
  }
}

function inTime<T>(reply: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const fail = (): void => reject(new Error('Redis does not answer.'))
  // Where this process was busy for so long, the reply may lie there unread: it is read before `setImmediate`.
  const timer = setTimeout(() => setImmediate(fail), patience)
  reply.then(resolve, reject).finally(() => clearTimeout(timer))
  return promise
}
