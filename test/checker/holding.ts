/** What each client finds by the public API, and that it cannot get the ids of others. */
import type { Customer } from './customer.ts'
import type { Holding } from './evidence.ts'
import type { History } from './history.ts'
import { transactionsIn } from './response-transaction.ts'

const size = 100
/** How many of others' ids a client tries. */
const guesses = 1_000

/** Every page, every id that the client ever saw and others' ids. All of it is recorded for the checker. */
export async function holdingsOf(history: History, gateway: string, customers: readonly Customer[]): Promise<readonly Holding[]> {
  const lists = await Promise.all(customers.map((customer) => listedFor(customer, gateway)))
  const clients = Map.groupBy(history.operations, ({ client }) => client)
  const seenBy = (name: string) => new Set(clients.get(name)?.flatMap(({ transactions }) => transactions.map(({ id }) => id)))
  const all = [...new Set([...clients.keys()].flatMap((name) => [...seenBy(name)]))]
  const some = all.filter((_, at) => at % Math.ceil(all.length / guesses) === 0)
  return await Promise.all(
    customers.map(async (customer, at) => ({
      client: customer.name,
      listed: lists[at] ?? new Set(),
      got: await gotBy(customer, gateway, seenBy(customer.name).union(new Set(some))),
    })),
  )
}

async function gotBy(customer: Customer, gateway: string, ids: ReadonlySet<string>): Promise<ReadonlySet<string>> {
  const got = new Set<string>()
  for (const id of ids) if ((await customer.get(gateway, id))?.status === 200) got.add(id)
  return got
}

async function listedFor(customer: Customer, gateway: string): Promise<ReadonlySet<string>> {
  const listed = new Set<string>()
  for (let page = 1; ; page++) {
    const response = await customer.list(gateway, page, size)
    const ids = transactionsIn(response?.text ?? '{}').map(({ id }) => id)
    for (const id of ids) listed.add(id)
    if (ids.length < size) return listed
  }
}
