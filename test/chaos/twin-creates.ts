/** Creates over two gateways: alone, again under the same key, and in both at once. */
import fc from 'fast-check'
import { send } from '../model/exchange-rows.ts'
import type { ClientName, ProcessName, Terms, WriteOutcome } from '../model/trace.ts'
import type { Process } from '../model/world.ts'
import { digits } from '../support/json.ts'
import { idIn, type Made, type TwinWorld } from './twin-world.ts'

export interface Command {
  readonly run: (real: TwinWorld) => Promise<unknown>
  readonly toString: () => string
}

/** How one create goes: what the ledger does with its intent and its result, and what the provider does in between. */
interface TwinCreate {
  readonly begin: WriteOutcome
  readonly finish: WriteOutcome
  readonly isApplied: boolean
  readonly isListed: boolean
  readonly reply: 'give' | 'repeat' | 'refuse' | 'lose' | 'kill'
  /** A result that the ledger refuses is refused until `flush`. */
  readonly isLate: boolean
}

export function command(name: string, given: unknown, run: Command['run']): Command {
  return { run, toString: () => `${name}(${JSON.stringify(given)})` }
}

export const client = fc.constantFrom<ClientName>('ann-1', 'ann-2', 'bob')
export const process = fc.constantFrom<ProcessName>('north', 'south')
export const nth = fc.nat(20)
export const request = fc.constantFrom<Terms>(
  { network: 'TRX', memo: '' },
  { network: 'TRX', memo: '7' },
  { network: 'ETH', memo: '' },
)
const writeOutcome = fc.oneof(
  { weight: 6, arbitrary: fc.constant<WriteOutcome>('Works') },
  fc.constantFrom<WriteOutcome>('Fails', 'ReplyLost'),
)
const course: fc.Arbitrary<TwinCreate> = fc.record({
  begin: writeOutcome,
  finish: writeOutcome,
  isApplied: fc.boolean(),
  isListed: fc.boolean(),
  reply: fc.constantFrom<TwinCreate['reply']>('give', 'give', 'repeat', 'refuse', 'lose', 'lose', 'kill'),
  isLate: fc.boolean(),
})

export const create = fc
  .record({ at: process, by: client, key: fc.constantFrom('', 'k1', 'k2'), order: request, course })
  .map((given) =>
    command('create', given, async (real) => {
      const { by, key, order: request } = given
      const made: Made = {
        client: by,
        key: key && `${key}-${real.day}`,
        request: request,
        moment: real.moment,
        sends: 0,
        responses: [],
      }
      real.made.push(made)
      await sendRequest(real, made, given.at, given.course)
    }),
  )

export const again = fc.record({ nth, at: process, course }).map((given) =>
  command('again', given, async (real) => {
    const before = real.made[given.nth % real.made.length]
    // A key that was used the day before is a new one.
    if (!before?.key.endsWith(`-${real.day}`)) return
    const { client: by, key, request } = before
    const made: Made = { client: by, key, request: request, moment: real.moment, sends: 0, responses: [] }
    real.made.push(made)
    await sendRequest(real, made, given.at, given.course)
  }),
)

/** The same create in both processes at once; the first one is sent, and the provider does not respond. */
export const race = fc.record({ by: client, order: request, isApplied: fc.boolean() }).map((given) =>
  command('race', given, async (real) => {
    const both = [...real.world.processes.values()]
    const made: Made = {
      client: given.by,
      key: `race${real.made.length}-${real.day}`,
      request: given.order,
      moment: real.moment,
      sends: 0,
      responses: [],
    }
    real.made.push(made)
    for (const { gates } of both) gates.follow = 'Works'
    const before = real.exchange.received
    const arrived = real.exchange.next()
    const request = both.map((each) => sent(real, made, each))
    const response = await Promise.race([arrived, Promise.all(request).then(() => undefined)])
    if (given.isApplied && response) real.add(real.made.length, given.by, given.order, true)
    response?.socket?.resetAndDestroy()
    await Promise.all(request)
    made.sends = real.exchange.received - before
    for (const { gates } of both) gates.follow = undefined
    const begun = both.flatMap(({ gates }) => gates.begun.slice(-1))
    const open = await real.open()
    const intent = begun.find(({ id }) => open.has(id) && real.made.every((other) => other.intent !== id))
    if (intent) made.intent = intent.id
  }),
)

async function sendRequest(real: TwinWorld, made: Made, at: ProcessName, course: TwinCreate): Promise<void> {
  const { world, exchange } = real
  const to = world.processes.get(at)
  if (!to) return
  const waiting = to.gates.next()
  const responded = sent(real, made, to)
  const begun = await Promise.race([waiting, responded.then(() => undefined)])
  if (!begun) return
  made.intent = begun.intent.id
  const before = exchange.received
  const arrived = exchange.next()
  begun.pass(course.begin)
  const response = await Promise.race([arrived, responded.then(() => undefined)])
  if (!response) return
  const number = real.made.indexOf(made) + 1
  const isRefused = course.reply === 'refuse'
  made.isRefused = isRefused
  const own = course.isApplied && !isRefused ? real.add(number, made.client, made.request, course.isListed) : undefined
  to.gates.outcomes.set(begun.intent.id, course.finish)
  const repeated = course.reply === 'repeat' ? givenBefore(real) : undefined
  const given = repeated ?? (course.reply === 'give' ? own : undefined)
  if (course.reply === 'kill') world.kill(at)
  else if (isRefused) send(response, 400, { message: 'No, certainly not', code: 400 })
  else if (given !== undefined) exchange.give(response, given, made.request)
  else response.socket?.resetAndDestroy()
  await responded
  made.sends = exchange.received - before
  const isDeferred = course.finish === 'Fails' && (isRefused || given !== undefined)
  if (!isDeferred) return void to.gates.outcomes.delete(begun.intent.id)
  real.deferred.push({ process: to, intent: begun.intent.id })
  if (!course.isLate) await real.flush(to)
}

/** An id that the ledger holds or held. */
function givenBefore({ made, pruned }: TwinWorld): number | undefined {
  return [...pruned].at(-1) ?? made.flatMap(({ responses }) => responses.flatMap((outcome) => idIn(outcome) ?? [])).at(-1)
}

async function sent({ world }: TwinWorld, made: Made, to: Process): Promise<void> {
  const { network, memo } = made.request
  const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: network }
  const body = { ...pair, amount: digits('0.5'), withdrawalAddress: 'withdrawal-1', ...(memo && { withdrawalExtraId: memo }) }
  const outcome = await world.sendRequest(to, made.client, '/transactions', { body, key: made.key }).catch(() => undefined)
  if (outcome) made.responses.push(outcome)
}
