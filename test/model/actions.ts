/** Each action of the model, done to the real gateways. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction as Known } from '../../src/domain/swap.ts'
import type { Answered } from '../support/client.ts'
import { digits } from '../support/json.ts'
import { time } from './clock.ts'
import { type Exchange, type Held, send, type View } from './exchange.ts'
import { type ClientName, type Look, type Question, type State, type Step, storeBy } from './trace.ts'
import type { Create, Process, World } from './world.ts'

type Action = (world: World, step: Step) => Promise<unknown> | unknown

export const actions: Readonly<Record<string, Action>> = {
  async arriveStep(world, { picks: { process: name, client, key, question } }) {
    const process = world.processes.get(name)
    if (!process) throw new Error(`${name} does not run`)
    const waiting = process.gates.next()
    const body = bodyOf(question)
    const sent = world.ask(process, client, '/transactions', { body, key }).catch(() => undefined)
    const create: Create = { process, client, question, sent }
    world.creates.set(world.creates.size + 1, create)
    void sent.then((answer) => {
      create.answer = answer
    })
    create.waiting = (await Promise.race([waiting, sent.then(() => undefined)])) ?? undefined
  },

  async begin(world, { picks: { r, chance, provider }, state }) {
    const create = createOf(world, r)
    const { gates } = create.process
    const goesUp = state.requests.get(r)?.stage.tag === 'Sent'
    const arrived = world.exchanges[provider].next()
    world.exhausted = provider === 'beta' ? 'alpha' : undefined
    gates.follow = provider === 'beta' ? storeBy(chance) : undefined
    create.waiting?.pass(provider === 'beta' ? 'Works' : storeBy(chance))
    if (goesUp) create.response = await Promise.race([arrived, tooEarly(create)])
    else await create.sent
    gates.follow = undefined
    const intent = gates.begun.at(-1)
    if (intent) create.intent = intent
  },

  apply: (world, { state }) => add(world, state.transactions.size, state),
  elsewhere: (world, { state }) => add(world, state.transactions.size, state),

  async give(world, { picks: { r, id, chance } }) {
    const create = createOf(world, r)
    plan(create, chance)
    if (create.response) exchangeOf(world, create).give(create.response, id, create.question)
    await create.sent
  },

  async refuse(world, { picks: { r, chance } }) {
    const create = createOf(world, r)
    plan(create, chance)
    if (create.response) send(create.response, 400, { message: 'No, certainly not', code: 400 })
    await create.sent
  },

  async lose(world, { picks: { r, chance } }) {
    const create = createOf(world, r)
    plan(create, chance)
    create.response?.socket?.resetAndDestroy()
    await create.sent
    if (create.intent) create.process.gates.stores.delete(create.intent.id)
  },

  async flush(world, { picks: { r } }) {
    const { intent, process } = createOf(world, r)
    const written = process.gates.nextWrite(intent?.id ?? '')
    process.gates.stores.delete(intent?.id ?? '')
    await written
  },

  kill: (world, { picks }) => world.kill(picks.process),
  restart: (world, { picks }) => world.restart(picks.process),
  reload(world, { picks }) {
    world.processes.get(picks.process)?.gateway.reload({ timeout: 61 })
  },

  appear(world, { picks: { id } }) {
    held(world, id).isListed = true
  },

  async finish(world, { picks: { r }, state }) {
    const { id = 0 } = state.rows.get(r) ?? {}
    held(world, id).isFinished = true
    await learn(world, createOf(world, r), id, ({ status }) => status === 'success')
  },

  async readRow(world, { picks: { r, id }, state }) {
    const own = state.rows.get(r)?.id ?? 0
    const create = createOf(world, r)
    // What was bound unread is known from the first get on; before that nothing could contradict it.
    await learn(world, create, own, ({ depositAddress }) => depositAddress !== undefined)
    const { mixedUp } = exchangeOf(world, create)
    mixedUp.set(own, id)
    const answer = await read(world, create, own)
    mixedUp.clear()
    const told = (answer.json as { deposit_address?: string }).deposit_address
    if (told !== `deposit-${own}`) throw new Error(`a get of tx-${own} showed ${told}: ${answer.status} ${answer.text}`)
  },

  async look(world, { picks: { r, process: name, missed }, state }) {
    const create = createOf(world, r)
    const process = world.processes.get(name)
    const { intent } = create
    if (!process || !intent) throw new Error('nobody looks')
    await world.store.ledger.doubt(intent.id, Date.now())
    if (!world.isManaged) await hear(world, process, create.client)
    const exchange = exchangeOf(world, create)
    const { truth } = state.looks.find(({ request }) => request === r) as Look
    const view: View = { rows: truth.filter((id) => id !== missed).toReversed(), ...(truth.includes(missed) && { missed }) }
    exchange.view = 'hold'
    process.gates.wanted = intent.id
    const asked = exchange.next()
    const done = process.gateway.reconcile()
    const response = await Promise.race([asked, done.then(() => undefined)])
    process.gates.wanted = undefined
    exchange.view = 'live'
    world.looks.set(r, { view, done, response, exchange })
  },

  async conclude(world, { picks: { reading } }) {
    const look = world.looks.get(reading.request)
    world.looks.delete(reading.request)
    if (!look?.response) throw new Error('the look asked for no list')
    look.exchange.view = look.view
    look.exchange.list(look.response, 1, '')
    await look.done
    look.exchange.view = 'live'
  },

  async list(world, { picks: { client } }) {
    const answer = await world.ask(world.some, client, '/transactions?size=100')
    if (answer.status !== 200) throw new Error(`a list: ${answer.status} ${answer.text}`)
  },

  resolveBind: (world, { picks: { r, id }, state }) =>
    world.resolve(createOf(world, r), `tx-${id}`, state.rows.get(r)?.state.tag === 'Done'),
  resolveNone: (world, { picks: { r } }) => world.resolve(createOf(world, r), undefined, true),
  /** Up to the day before: what is younger may be taken for a create that comes next. */
  prune: (world) => world.store.bookkeeping.prune(time.startOfDay()),

  dayPasses(world) {
    time.dayPasses()
    for (const exchange of Object.values(world.exchanges)) for (const swap of exchange.transactions.values()) swap.isListed = true
  },
  clockJumps(_, { state }) {
    time.isAhead = state.clockIsAhead
  },
}

function bodyOf({ network, memo }: Question): object {
  const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: network }
  return { ...pair, amount: digits('0.5'), withdrawalAddress: 'withdrawal-1', ...(memo !== '' && { withdrawalExtraId: memo }) }
}

function createOf({ creates }: World, r: number): Create {
  const create = creates.get(r)
  if (!create) throw new Error(`there is no create ${r}`)
  return create
}

function exchangeOf({ exchanges }: World, create: Create): Exchange {
  return exchanges[create.intent?.provider === 'beta' ? 'beta' : 'alpha']
}

async function tooEarly({ sent }: Create): Promise<never> {
  const answer = await sent
  throw new Error(`answered before anything was sent: ${answer?.status} ${answer?.text}`)
}

/** What the next write for this create meets. */
function plan({ intent, process }: Create, chance: number): void {
  if (intent) process.gates.stores.set(intent.id, storeBy(chance))
}

/** The model has just made this transaction. */
function add({ exchanges }: World, id: number, { transactions }: State): void {
  const made = transactions.get(id)
  if (made) exchanges[made.provider].transactions.set(id, { ...made, id, createdAt: new Date(Date.now()).toISOString() })
}

function held({ exchanges }: World, id: number): Held {
  return (exchanges.alpha.transactions.get(id) ?? exchanges.beta.transactions.get(id)) as Held
}

/** Its owner reads it until the ledger has it so: what is read may be kept after it is shown. */
async function learn(world: World, create: Create, id: number, isKnown: (swap: Known) => boolean): Promise<void> {
  const { owner = '', provider = '' } = create.intent ?? {}
  for (let tries = 0; tries < 50; tries++) {
    await read(world, create, id)
    const entry = await world.store.ledger.find(owner, provider, `tx-${id}`)
    if (entry && isKnown(entry.transaction)) return
    await wait(2)
  }
}

function read(world: World, { client, intent }: Create, id: number): Promise<Answered> {
  return world.ask(world.some, client, `/transactions/${intent?.provider}~tx-${id}`)
}

/** Where keys are the provider's own, a process looks with those that it has heard since it knows whom it waits for. */
async function hear(world: World, process: Process, client: ClientName): Promise<void> {
  await process.gateway.reconcile()
  await world.ask(process, client, '/transactions/alpha~tx-0')
}
