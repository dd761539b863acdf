/** What the actions of the model share. */
import type { ReceivedResponse } from '../support/client.ts'
import { time } from './clock.ts'
import type { Exchange, Held } from './exchange.ts'
import type { State, Step } from './trace.ts'
import type { Create, World } from './world.ts'

export type Actions = Readonly<Record<string, (world: World, step: Step) => Promise<unknown> | unknown>>

export function createOf({ creates }: World, r: number): Create {
  const create = creates.get(r)
  if (!create) throw new Error(`there is no create ${r}`)
  return create
}

export function exchangeOf({ exchanges }: World, create: Create): Exchange {
  return exchanges[create.intent?.provider === 'beta' ? 'beta' : 'alpha']
}

/** The model has just made this transaction, by the clock of its provider. */
export function add({ exchanges }: World, id: number, { transactions, clockIsAhead }: State): void {
  const made = transactions.get(id)
  const createdAt = Date.now() + (made?.isAhead && !clockIsAhead ? time.aheadMs : 0)
  if (made) exchanges[made.provider].transactions.set(id, { ...made, id, createdAt: new Date(createdAt).toISOString() })
}

export function held({ exchanges }: World, id: number): Held {
  return (exchanges.alpha.transactions.get(id) ?? exchanges.beta.transactions.get(id)) as Held
}

export function read(world: World, { client, intent }: Create, id: number): Promise<ReceivedResponse> {
  return world.sendRequest(world.some, client, `/transactions/${intent?.provider}~tx-${id}`)
}
