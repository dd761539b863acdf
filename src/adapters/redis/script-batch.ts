/** What one turn of the event loop asks of Redis goes up in one call of one script, of a cluster in one call for each slot. */
import { Cluster, Command, type Redis, ReplyError } from 'ioredis'
import { currentSpans, inClientSpans, withSpans } from '../../domain/current-span.ts'
import type { ScriptDeadlines } from './script-deadline.ts'

/** Runs a script on keys of one slot. Throws after at most 200 ms without a reply. */
export type Script = (keys: readonly string[], args: readonly string[]) => Promise<readonly number[]>

interface Waiting {
  readonly resolve: (reply: readonly number[]) => void
  readonly reject: (reason: unknown) => void
}

interface Batch {
  readonly keys: string[]
  readonly args: string[]
  readonly waiting: Waiting[]
}

/** Redis does nothing else during a call: some 10 µs for each script of it. */
const maxBatch = 100
/** A memory limit. */
const maxWaiting = 10_000

type Call = (numberOfKeys: number, ...keysAndArgs: string[]) => Promise<string>

/** Its calls are those of one script, each for many requests. */
const describe = () => ({ name: 'EVALSHA', attributes: { 'db.system.name': 'redis', 'db.operation.name': 'EVALSHA' } as const })

export class ScriptBatches {
  private readonly client: Redis | Cluster
  private readonly deadlines: ScriptDeadlines
  private readonly onRefusal: (reason: unknown) => void
  private readonly scripts: string[] = []
  /** Of all scripts; undefined while one of them is not part of it. */
  private call: Call | undefined
  private readonly batches = new Map<number, Batch>()
  private waiting = 0

  /** `onRefusal`: gets what Redis said, once for each call. */
  constructor(client: Redis | Cluster, deadlines: ScriptDeadlines, onRefusal: (reason: unknown) => void) {
    this.client = client
    this.deadlines = deadlines
    this.onRefusal = onRefusal
  }

  /** Prepares a script whose reply is a list of integers. In the script, `now` is the clock of Redis in milliseconds, and `call` that of Redis. */
  script(lua: string, numberOfKeys: number): Script {
    this.scripts.push(`function(KEYS, ARGV)\n${lua}\nend`)
    this.call = undefined
    const head = `${this.scripts.length} ${numberOfKeys}`
    return (keys, args) => inClientSpans(currentSpans(), describe, () => this.add(head, keys, args))
  }

  private add(head: string, keys: readonly string[], args: readonly string[]): Promise<readonly number[]> {
    if (this.waiting >= maxWaiting) return Promise.reject(new Error('Too much is waiting for Redis.'))
    const slot = this.client instanceof Cluster ? slotOf(keys[0]) : 0
    const batch = this.batchOf(slot)
    batch.keys.push(...keys)
    batch.args.push(`${head} ${args.length}`)
    batch.args.push(...args)
    this.waiting++
    const reply = new Promise<readonly number[]>((resolve, reject) => void batch.waiting.push({ resolve, reject }))
    if (batch.waiting.length === maxBatch) this.batches.delete(slot)
    return reply
  }

  private batchOf(slot: number): Batch {
    const open = this.batches.get(slot)
    if (open) return open
    const batch: Batch = { keys: [], args: [], waiting: [] }
    this.batches.set(slot, batch)
    // After all that this turn reads from sockets.
    withSpans([], () =>
      setImmediate(() => {
        if (this.batches.get(slot) === batch) this.batches.delete(slot)
        void this.send(batch)
      }),
    )
    return batch
  }

  private async send({ keys, args, waiting }: Batch): Promise<void> {
    try {
      this.call ??= this.define()
      const call = this.call
      const replies = await this.deadlines.run(async (deadlineMs) => {
        const [now, ...value] = (await call(keys.length, ...keys, ...args, String(deadlineMs))).split('\n')
        return value.length > 0 ? { now: Number(now), value } : { now: Number(now) }
      })
      for (const [at, { resolve, reject }] of waiting.entries()) {
        const reply = replies[at] ?? ''
        if (reply.startsWith(failure)) reject(new Error(reply.slice(failure.length)))
        else resolve(reply.split(' ').map(Number))
      }
      const refused = replies.find((reply) => reply?.startsWith(failure))
      if (refused !== undefined) this.onRefusal(new Error(refused.slice(failure.length)))
    } catch (reason) {
      if (reason instanceof ReplyError) this.onRefusal(reason)
      for (const { reject } of waiting) reject(reason)
    } finally {
      this.waiting -= waiting.length
    }
  }

  private define(): Call {
    const name = `swapgate${this.scripts.length}`
    this.client.defineCommand(name, { lua: batchLua(this.scripts) })
    return Reflect.get(this.client, name).bind(this.client)
  }
}

function slotOf(key = ''): number {
  return new Command('exists', [key]).getSlot() ?? 0
}

const failure = 'failed: '

/**
 * ARGV: for each script its place in the list, the numbers of its keys and of its arguments, and these; at last the deadline on the clock
 * of Redis, 0 for none. The reply has that clock and a line for each script, which ioredis reads in a third of the time of nested lists.
 * After the deadline it has only the clock, and nothing is done. A script that fails fails alone, unless the node has become a replica:
 * then ioredis has to see it (`reconnectOnError`). Redis 7.0 does not say which command of a script it refuses: the failure does.
 */
function batchLua(scripts: readonly string[]): string {
  return `
local clock = redis.pcall('TIME')
if clock.err then return redis.error_reply(clock.err .. ' (TIME)') end
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
local latest = tonumber(ARGV[#ARGV])
local lines, key, arg = {string.format('%.0f', now)}, 0, 1
if latest > 0 and now > latest then return lines[1] end
local command
local function call(name, ...)
  command = name
  return redis.call(name, ...)
end
local scripts = {${scripts.join(',\n')}}
local function run(script, keys, args)
  command = nil
  local reply = scripts[script](keys, args)
  for at, number in ipairs(reply) do reply[at] = string.format('%.0f', number) end
  return table.concat(reply, ' ')
end
while arg < #ARGV do
  local script, keys, args = string.match(ARGV[arg], '(%d+) (%d+) (%d+)')
  local isDone, line = pcall(run, tonumber(script), {unpack(KEYS, key + 1, key + keys)}, {unpack(ARGV, arg + 1, arg + args)})
  if not isDone then
    local reason = type(line) == 'table' and line.err or tostring(line)
    if string.find(reason, '^READONLY') then return redis.error_reply(reason) end
    line = '${failure}' .. string.gsub(reason, '%c', ' ') .. ' (' .. (command or '?') .. ')'
  end
  table.insert(lines, line)
  key, arg = key + keys, arg + args + 1
end
return table.concat(lines, '\\n')`
}
