/** What can happen between two gateways, a provider, their ledger and the clocks. Nothing is expected of a single answer. */
import fc from 'fast-check'
import { time } from '../model/clock.ts'
import { send } from '../model/exchange.ts'
import type { ClientName, ProcessName, Question, Store } from '../model/trace.ts'
import type { Process } from '../model/world.ts'
import { digits } from '../support/json.ts'
import { depositIn, idIn, type Made, type TwinWorld } from './twin-world.ts'

export interface Command {
  readonly run: (real: TwinWorld) => Promise<unknown>
  readonly toString: () => string
}

/** How one create goes: what the ledger does with its intent and its result, and what the provider does in between. */
interface Course {
  readonly begin: Store
  readonly settle: Store
  readonly isApplied: boolean
  readonly isListed: boolean
  readonly reply: 'give' | 'repeat' | 'refuse' | 'lose' | 'kill'
}

function command(name: string, given: unknown, run: Command['run']): Command {
  return { run, toString: () => `${name}(${JSON.stringify(given)})` }
}

const client = fc.constantFrom<ClientName>('ann-1', 'ann-2', 'bob')
const process = fc.constantFrom<ProcessName>('north', 'south')
const nth = fc.nat(20)
const question = fc.constantFrom<Question>(
  { network: 'TRX', memo: '' },
  { network: 'TRX', memo: '7' },
  { network: 'ETH', memo: '' },
)
const store = fc.oneof({ weight: 6, arbitrary: fc.constant<Store>('Works') }, fc.constantFrom<Store>('Fails', 'AnswerLost'))
const course: fc.Arbitrary<Course> = fc.record({
  begin: store,
  settle: store,
  isApplied: fc.boolean(),
  isListed: fc.boolean(),
  reply: fc.constantFrom<Course['reply']>('give', 'give', 'repeat', 'refuse', 'lose', 'lose', 'kill'),
})

const create = fc.record({ at: process, by: client, key: fc.constantFrom('', 'k1', 'k2'), question, course }).map((given) =>
  command('create', given, async (real) => {
    const { by, key, question: asked } = given
    const made: Made = { client: by, key: key && `${key}-${real.day}`, question: asked, day: real.day, answers: [] }
    real.made.push(made)
    await ask(real, made, given.at, given.course)
  }),
)

const again = fc.record({ nth, at: process, course }).map((given) =>
  command('again', given, async (real) => {
    const before = real.made[given.nth % real.made.length]
    if (!before?.key) return
    const made: Made = { ...before, day: real.day, answers: [] }
    delete made.intent
    real.made.push(made)
    await ask(real, made, given.at, given.course)
  }),
)

/** The same create in both processes at once; whoever comes first goes up, and nobody answers. */
const race = fc.record({ by: client, question, isApplied: fc.boolean() }).map((given) =>
  command('race', given, async (real) => {
    const both = [...real.world.processes.values()]
    const made: Made = { client: given.by, key: `race-${real.made.length}`, question: given.question, day: real.day, answers: [] }
    real.made.push(made)
    for (const { gates } of both) gates.follow = 'Works'
    const arrived = real.exchange.next()
    const asked = both.map((each) => sent(real, made, each))
    const response = await Promise.race([arrived, Promise.all(asked).then(() => undefined)])
    if (given.isApplied && response) real.add(real.made.length, given.by, given.question, true)
    response?.socket?.resetAndDestroy()
    await Promise.all(asked)
    for (const { gates } of both) gates.follow = undefined
    const begun = both.flatMap(({ gates }) => gates.begun.slice(-1))
    const open = await real.open()
    const intent = begun.find(({ id }) => open.has(id) && real.made.every((other) => other.intent !== id))
    if (intent) made.intent = intent.id
  }),
)

async function ask(real: TwinWorld, made: Made, at: ProcessName, course: Course): Promise<void> {
  const { world, exchange } = real
  const to = world.processes.get(at)
  if (!to) return
  const waiting = to.gates.next()
  const answered = sent(real, made, to)
  const begun = await Promise.race([waiting, answered.then(() => undefined)])
  if (!begun) return
  made.intent = begun.intent.id
  const arrived = exchange.next()
  begun.pass(course.begin)
  const response = await Promise.race([arrived, answered.then(() => undefined)])
  if (!response) return
  const number = real.made.indexOf(made) + 1
  const isRefused = course.reply === 'refuse'
  const own = course.isApplied && !isRefused ? real.add(number, made.client, made.question, course.isListed) : undefined
  to.gates.stores.set(begun.intent.id, course.settle)
  const repeated = course.reply === 'repeat' ? givenBefore(real) : undefined
  const given = repeated ?? (course.reply === 'give' ? own : undefined)
  if (course.reply === 'kill') world.kill(at)
  else if (isRefused) send(response, 400, { message: 'No, certainly not', code: 400 })
  else if (given !== undefined) exchange.give(response, given, made.question)
  else response.socket?.resetAndDestroy()
  await answered
  const isKept = course.settle === 'Fails' && (isRefused || given !== undefined)
  const written = isKept ? to.gates.nextWrite(begun.intent.id) : undefined
  to.gates.stores.delete(begun.intent.id)
  await written
}

/** An id that the ledger holds. */
function givenBefore({ made }: TwinWorld): number | undefined {
  return made.flatMap(({ answers }) => answers.flatMap((answer) => idIn(answer) ?? [])).at(-1)
}

async function sent({ world }: TwinWorld, made: Made, to: Process): Promise<void> {
  const { network, memo } = made.question
  const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: network }
  const body = { ...pair, amount: digits('0.5'), withdrawalAddress: 'withdrawal-1', ...(memo && { withdrawalExtraId: memo }) }
  const answer = await world.ask(to, made.client, '/transactions', { body, key: made.key }).catch(() => undefined)
  if (answer) made.answers.push(answer)
}

const look = fc.record({ at: process, isShifting: fc.boolean(), missed: nth }).map((given) =>
  command('look', given, async (real) => {
    const { world, exchange } = real
    const to = world.processes.get(given.at)
    if (!to) return
    for (const [intent, state] of await real.open()) if (state !== 'mismatch') await world.store.ledger.doubt(intent, Date.now())
    if (!world.isManaged) await hear(real, to)
    const listed = [...exchange.transactions.values()].filter(({ isListed }) => isListed).map(({ id }) => id)
    const missed = listed[given.missed % listed.length]
    if (given.isShifting && missed !== undefined) exchange.view = { rows: listed.filter((id) => id !== missed), missed }
    to.gates.wanted = 'all'
    await real.look(() => to.gateway.reconcile())
    to.gates.wanted = undefined
    exchange.view = 'live'
  }),
)

/** Where keys are the provider's own, a process looks with those that it has heard since it knows whom it waits for. */
async function hear({ world }: TwinWorld, to: Process): Promise<void> {
  await to.gateway.reconcile()
  for (const by of ['ann-1', 'ann-2', 'bob'] as const) await world.ask(to, by, '/transactions/alpha~tx-0')
}

const read = fc.record({ nth, told: nth, at: process }).map((given) =>
  command('get', given, async (real) => {
    const answered = real.made.flatMap((made) => made.answers.flatMap((answer) => ({ made, id: idIn(answer) })))
    const known = answered.filter(({ id }) => id !== undefined)
    const { made, id } = known[given.nth % known.length] ?? {}
    const to = real.world.processes.get(given.at)
    if (!made || id === undefined || !to) return
    real.exchange.mixedUp.set(id, (given.told % real.swaps.length) + 1)
    const answer = await real.world.ask(to, made.client, `/transactions/alpha~tx-${id}`)
    real.exchange.mixedUp.clear()
    if (answer.status === 200) real.shown.push({ id, deposit: depositIn(answer) })
  }),
)

const list = fc.record({ by: client, at: process }).map((given) =>
  command('list', given, async ({ world }) => {
    const to = world.processes.get(given.at)
    if (to) await world.ask(to, given.by, '/transactions?size=100')
  }),
)

const elsewhere = fc
  .record({ by: client, question })
  .map((given) => command('elsewhere', given, async (real) => void real.add(0, given.by, { ...given.question, memo: '' }, true)))
const appear = fc.constant(
  command('appear', '', async ({ exchange }) => {
    for (const swap of exchange.transactions.values()) swap.isListed = true
  }),
)
const restart = fc.constant(
  command('restart', '', async ({ world }) => {
    for (const name of ['north', 'south'] as const) if (!world.processes.has(name)) await world.restart(name)
  }),
)
const reload = process.map((at) =>
  command('reload', at, async ({ world }) => world.processes.get(at)?.gateway.reload({ timeout: 61 })),
)
const clock = fc.boolean().map((isAhead) =>
  command('the clock is ahead', isAhead, async () => {
    time.isAhead = isAhead
  }),
)
const day = fc.constant(
  command('a day passes', '', async (real) => {
    time.dayPasses()
    real.day++
    for (const swap of real.exchange.transactions.values()) swap.isListed = true
  }),
)

const weighted = [
  { weight: 6, arbitrary: create },
  { weight: 3, arbitrary: again },
  { weight: 1, arbitrary: race },
  { weight: 4, arbitrary: look },
  { weight: 2, arbitrary: read },
  ...[list, elsewhere, appear, restart, restart, reload, clock, day].map((arbitrary) => ({ weight: 1, arbitrary })),
]

export const twinMixes = fc.array(fc.oneof(...weighted), { minLength: 8, maxLength: 20 })
