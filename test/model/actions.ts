/** Executes each action of the model with the real gateways. */
import { setTimeout as wait } from 'node:timers/promises'
import type { Transaction as Known } from '../../src/domain/swap.ts'
import { type Actions, createOf, exchangeOf, held, read } from './action.ts'
import { time } from './clock.ts'
import { createActions } from './create-actions.ts'
import { listReadActions } from './list-read-actions.ts'
import type { Create, World } from './world.ts'

export const actions: Actions = {
  ...createActions,
  ...listReadActions,

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
    const { wrongIds: mixedUp } = exchangeOf(world, create)
    mixedUp.set(own, id)
    const response = await read(world, create, own)
    mixedUp.clear()
    if (id !== own) world.doubted.add(own)
    const reported = (response.json as { deposit_address?: string }).deposit_address
    // A swap that is contradicted shows none.
    if (reported !== undefined && reported !== `deposit-${own}`)
      throw new Error(`a get of tx-${own} showed ${reported}: ${response.status} ${response.text}`)
  },

  async list(world, { picks: { client } }) {
    const response = await world.sendRequest(world.some, client, '/transactions?size=100')
    if (response.status !== 200) throw new Error(`a list: ${response.status} ${response.text}`)
  },

  resolveBind: (world, { picks: { r, id }, state }) =>
    world.resolve(createOf(world, r), `tx-${id}`, state.rows.get(r)?.state.tag === 'Done'),
  resolveNone: (world, { picks: { r } }) => world.resolve(createOf(world, r), undefined, true),
  /** A clock that is ahead dates swaps up to a day later. */
  prune: (world) => world.store.ledgerAdmin.prune(time.tomorrow(), 'tester'),

  dayPasses(world) {
    time.dayPasses()
    for (const exchange of Object.values(world.exchanges)) for (const swap of exchange.transactions.values()) swap.isListed = true
  },
  clockJumps(_, { state }) {
    time.isAhead = state.clockIsAhead
  },
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
