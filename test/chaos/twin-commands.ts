/** What can happen between two gateways, a provider, their ledger and the clocks. No single response is checked. */
import fc from 'fast-check'
import { time } from '../model/clock.ts'
import type { Process } from '../model/world.ts'
import { again, client, command, create, nth, process, race, request } from './twin-creates.ts'
import { depositIn, idIn, type TwinWorld } from './twin-world.ts'

const reconcile = fc.record({ at: process, isShifting: fc.boolean(), missed: nth }).map((given) =>
  command('reconcile', given, async (real) => {
    const { world, exchange } = real
    const to = world.processes.get(given.at)
    if (!to) return
    for (const [intent, state] of await real.open())
      if (state !== 'mismatch') await world.store.ledger.markUnknown(intent, Date.now())
    if (!world.isManaged) await presentKey(real, to)
    const listed = [...exchange.transactions.values()].filter(({ isListed }) => isListed).map(({ id }) => id)
    const missed = listed[given.missed % listed.length]
    if (given.isShifting && missed !== undefined) exchange.view = { rows: listed.filter((id) => id !== missed), missed }
    to.gates.wanted = 'all'
    await real.reconcile(() => to.gateway.reconcile())
    to.gates.wanted = undefined
    exchange.view = 'live'
  }),
)

/** In passthrough mode reconciliation reads lists with the keys that the process has received since it has unresolved creates. */
async function presentKey({ world }: TwinWorld, to: Process): Promise<void> {
  await to.gateway.reconcile()
  for (const by of ['ann-1', 'ann-2', 'bob'] as const) await world.sendRequest(to, by, '/transactions/alpha~tx-0')
}

const read = fc.record({ nth, reportedAs: nth, at: process }).map((given) =>
  command('get', given, async (real) => {
    const returned = real.made.flatMap((made) => made.responses.flatMap((response) => ({ made, id: idIn(response) })))
    // What was pruned cannot be compared with anything.
    const known = returned.filter(({ id }) => id !== undefined && !real.pruned.has(id))
    const { made, id } = known[given.nth % known.length] ?? {}
    const to = real.world.processes.get(given.at)
    if (!made || id === undefined || !to) return
    real.exchange.wrongIds.set(id, (given.reportedAs % real.swaps.length) + 1)
    const response = await real.world.sendRequest(to, made.client, `/transactions/alpha~tx-${id}`)
    real.exchange.wrongIds.clear()
    if (response.status === 200) real.shown.push({ id, deposit: depositIn(response) })
  }),
)

const list = fc.record({ by: client, at: process }).map((given) =>
  command('list', given, async ({ world }) => {
    const to = world.processes.get(given.at)
    if (to) await world.sendRequest(to, given.by, '/transactions?size=100')
  }),
)

const elsewhere = fc
  .record({ by: client, request: request })
  .map((given) => command('elsewhere', given, async (real) => void real.add(0, given.by, { ...given.request, memo: '' }, true)))
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
  command('the clock is ahead', isAhead, async (real) => {
    time.isAhead = isAhead
    real.isAhead = isAhead
  }),
)
/** Swaps end well, their owners read that, and `ledger prune` deletes them. */
const prune = process.map((at) =>
  command('prune', at, async (real) => {
    const { world, exchange, made } = real
    const to = world.processes.get(at)
    if (!to) return
    for (const swap of exchange.transactions.values()) swap.isFinished = true
    for (const { client: by, responses } of made) {
      for (const id of responses.flatMap((response) => idIn(response) ?? []))
        await world.sendRequest(to, by, `/transactions/alpha~tx-${id}`)
    }
    await real.prune()
  }),
)
const flush = fc.constant(command('flush', '', (real) => real.flush()))
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
  { weight: 4, arbitrary: reconcile },
  { weight: 2, arbitrary: read },
  ...[list, elsewhere, appear, restart, restart, reload, clock, day, prune, prune, flush, flush].map((arbitrary) => ({
    weight: 1,
    arbitrary,
  })),
]

export const twinMixes = fc.array(fc.oneof(...weighted), { minLength: 8, maxLength: 20 })
