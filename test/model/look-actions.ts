/** Reconciliation of creates of unknown outcome: the list is requested, and comes later. */
import { type Actions, createOf, exchangeOf } from './action.ts'
import type { View } from './exchange.ts'
import type { ClientName, Look } from './trace.ts'
import type { Process, World } from './world.ts'

export const lookActions: Actions = {
  async look(world, { picks: { r, process: name, missed }, state }) {
    const create = createOf(world, r)
    const process = world.processes.get(name)
    const { intent } = create
    if (!process || !intent) throw new Error('no process reads the list')
    await world.store.ledger.markUnknown(intent.id, Date.now())
    if (!world.isManaged) await presentKey(world, process, create.client)
    const exchange = exchangeOf(world, create)
    const { truth } = state.looks.find(({ request }) => request === r) as Look
    const view: View = { rows: truth.filter((id) => id !== missed).toReversed(), ...(truth.includes(missed) && { missed }) }
    exchange.view = 'hold'
    process.gates.wanted = intent.id
    const nextRequest = exchange.next()
    const done = process.gateway.reconcile()
    const response = await Promise.race([nextRequest, done.then(() => undefined)])
    process.gates.wanted = undefined
    exchange.view = 'live'
    world.looks.set(r, { view, done, response, exchange })
  },

  async conclude(world, { picks: { reading } }) {
    const look = world.looks.get(reading.request)
    world.looks.delete(reading.request)
    if (!look?.response) throw new Error('no list was requested')
    look.exchange.view = look.view
    look.exchange.list(look.response, 1, '')
    await look.done
    look.exchange.view = 'live'
  },
}

/** In passthrough mode a process looks with the keys that it has received since it has unresolved creates. */
async function presentKey(world: World, process: Process, client: ClientName): Promise<void> {
  await process.gateway.reconcile()
  await world.sendRequest(process, client, '/transactions/alpha~tx-0')
}
