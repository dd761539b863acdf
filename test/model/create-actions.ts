/** Creates: how they arrive, are sent, and what the provider does and returns. */
import { digits } from '../support/json.ts'
import { type Actions, add, createOf, exchangeOf } from './action.ts'
import { send } from './exchange-rows.ts'
import { type Terms, writeOutcomeOf } from './trace.ts'
import type { Create } from './world.ts'

export const createActions: Actions = {
  async arriveStep(world, { picks: { process: name, client, key, terms } }) {
    const process = world.processes.get(name)
    if (!process) throw new Error(`${name} does not run`)
    const waiting = process.gates.next()
    const body = bodyOf(terms)
    const sent = world.sendRequest(process, client, '/transactions', { body, key }).catch(() => undefined)
    const create: Create = { process, client, terms, sent }
    world.creates.set(world.creates.size + 1, create)
    void sent.then((outcome) => {
      create.response = outcome
    })
    create.waiting = (await Promise.race([waiting, sent.then(() => undefined)])) ?? undefined
  },

  async begin(world, { picks: { r, chance, provider }, state }) {
    const create = createOf(world, r)
    const { gates } = create.process
    const isSent = state.requests.get(r)?.stage.tag === 'Sent'
    const arrived = world.exchanges[provider].next()
    world.exhausted = provider === 'beta' ? 'alpha' : undefined
    gates.follow = provider === 'beta' ? writeOutcomeOf(chance) : undefined
    create.waiting?.pass(provider === 'beta' ? 'Works' : writeOutcomeOf(chance))
    if (isSent) create.providerResponse = await Promise.race([arrived, tooEarly(create)])
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
    if (create.providerResponse) exchangeOf(world, create).give(create.providerResponse, id, create.terms)
    await create.sent
  },

  async refuse(world, { picks: { r, chance } }) {
    const create = createOf(world, r)
    plan(create, chance)
    if (create.providerResponse) send(create.providerResponse, 400, { message: 'No, certainly not', code: 400 })
    await create.sent
  },

  async lose(world, { picks: { r, chance } }) {
    const create = createOf(world, r)
    plan(create, chance)
    create.providerResponse?.socket?.resetAndDestroy()
    await create.sent
    if (create.intent) create.process.gates.outcomes.delete(create.intent.id)
  },

  async flush(world, { picks: { r } }) {
    const { intent, process } = createOf(world, r)
    const written = process.gates.nextWrite(intent?.id ?? '')
    process.gates.outcomes.delete(intent?.id ?? '')
    await written
  },
}

function bodyOf({ network, memo }: Terms): object {
  const pair = { coinFrom: 'BTC', networkFrom: 'BTC', coinTo: 'USDT', networkTo: network }
  return { ...pair, amount: digits('0.5'), withdrawalAddress: 'withdrawal-1', ...(memo !== '' && { withdrawalExtraId: memo }) }
}

async function tooEarly({ sent }: Create): Promise<never> {
  const outcome = await sent
  throw new Error(`the client got a response before anything was sent: ${outcome?.status} ${outcome?.text}`)
}

/** What the next write for this create meets. */
function plan({ intent, process }: Create, chance: number): void {
  if (intent) process.gates.outcomes.set(intent.id, writeOutcomeOf(chance))
}
