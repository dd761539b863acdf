/** Reconciliation of creates of unknown outcome: the list is requested, and comes later. */
import { type Actions, createOf, exchangeOf } from './action.ts'
import type { Exchange, View } from './exchange.ts'
import type { ClientName, ListRead } from './trace.ts'
import type { Process, World } from './world.ts'

export const listReadActions: Actions = {
  async beginListRead(world, { picks: { r, process: name, missed }, state }) {
    const create = createOf(world, r)
    const process = world.processes.get(name)
    const { intent } = create
    if (!process || !intent) throw new Error('no process reads the list')
    await world.store.ledger.markUnknown(intent.id, Date.now())
    if (!world.isManaged) await presentKey(world, process, create.client)
    const exchange = exchangeOf(world, create)
    const { actual } = state.listReads.find(({ request }) => request === r) as ListRead
    const view: View = { rows: actual.filter((id) => id !== missed).toReversed(), ...(actual.includes(missed) && { missed }) }
    world.listReads.set(r, { view, exchange, ...(await requested(process, intent.id, exchange)) })
  },

  async endListRead(world, { picks: { listRead } }) {
    const pending = world.listReads.get(listRead.request)
    world.listReads.delete(listRead.request)
    const { intent } = createOf(world, listRead.request)
    const process = world.processes.get(listRead.process)
    if (!pending || !process || !intent) throw new Error('no process reads the list')
    const { exchange, view } = pending
    // One that another search kept waiting is requested now: the list is as it was then.
    const { response, done } = pending.response ? pending : await requested(process, intent.id, exchange)
    if (!response) throw new Error('no list was requested')
    exchange.view = view
    exchange.list(response, 1, '')
    await done
    exchange.view = 'live'
  },
}

/** Looks for one create. The response is undefined if that requests no list. */
async function requested(process: Process, intent: string, exchange: Exchange) {
  exchange.view = 'hold'
  process.gates.wanted = intent
  const nextRequest = exchange.next()
  const done = process.gateway.reconcile()
  const response = await Promise.race([nextRequest, done.then(() => undefined)])
  process.gates.wanted = undefined
  exchange.view = 'live'
  return { done, response }
}

/** In passthrough mode reconciliation reads lists with the keys that the process has received since it has unresolved creates. */
async function presentKey(world: World, process: Process, client: ClientName): Promise<void> {
  await process.gateway.reconcile()
  await world.sendRequest(process, client, '/transactions/alpha~tx-0')
}
