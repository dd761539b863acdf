/** A gateway in passthrough mode, and a transaction that is read while its create is in flight. */
import { expect } from 'vitest'
import type { Ledger, LedgerEntry } from '../../src/core/ports/ledger.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { transactionA } from '../support/form-a.ts'
import { createdB, detailedB, listedB } from '../support/form-b.ts'
import type { StartedGateway } from '../support/gateway.ts'
import { orderIn } from '../support/managed.ts'
import { client } from '../support/pair.ts'
import { type Passthrough, startPassthrough } from '../support/passthrough.ts'
import { type Swap, swap } from '../support/swaps.ts'

export type ProviderName = 'alpha' | 'beta'

export const made = swap({ id: 'made-1', refundAddress: null })
/** Another one's facts under its id. */
export const wrong = { ...made, depositAddress: 'bc1q-thief' }

/** A reply that is sent when the test sends it. */
export interface HeldReply {
  readonly received: Promise<void>
  readonly send: () => void
}

export type Creating = Awaited<ReturnType<typeof startCreating>>

/** `layer` wraps the ledger of each gateway; `index` is 0 for the first one. */
export async function startCreating(name: ProviderName, layer: (own: Ledger, index: number) => Ledger = (own) => own) {
  let started = 0
  const place: Passthrough = await startPassthrough(name, { ledgerLayer: (own) => layer(own, started++) })
  const key = await place.gateway.freshKey()
  const provider = place[name]
  const id = `${name}~made-1`
  const [created, listed, detailed] = name === 'alpha' ? [transactionA, transactionA, transactionA] : [createdB, listedB, detailedB]
  const page = (swaps: readonly Swap[]): object => {
    const data = swaps.map(listed)
    return name === 'alpha' ? { data, pagination: { page: 1, size: 20, total: data.length } } : { data, count: data.length }
  }
  const hold = (operation: 'get' | 'list' | 'create', replies: readonly object[]): readonly HeldReply[] => {
    const waiting = replies.map((json) => ({ json, received: Promise.withResolvers<void>(), sent: Promise.withResolvers<void>() }))
    const next = waiting.values()
    provider.reply(operation, () => {
      const { value } = next.next()
      if (!value) return undefined
      value.received.resolve()
      return { json: value.json, after: value.sent.promise }
    })
    return waiting.map(({ received, sent }) => ({ received: received.promise, send: () => sent.resolve() }))
  }
  const clientOf = ({ url }: StartedGateway) => client('A', url, place.witness)
  const keep = (facts: Swap): void => {
    const others = provider.holdings.swaps.filter((held) => held.id !== facts.id)
    provider.holdings.swaps = [...others, facts]
  }
  return {
    place,
    id,
    provider,
    get: (at: StartedGateway = place.gateway, which = id, as = key): Promise<ReceivedResponse> =>
      clientOf(at).get(`/transactions/${which}`, { key: as }),
    list: (at: StartedGateway = place.gateway): Promise<ReceivedResponse> => clientOf(at).get('/transactions', { key }),
    entry: async (): Promise<LedgerEntry | undefined> =>
      (await Array.fromAsync(place.gateway.ledgerAdmin.export())).find(({ transaction }) => transaction.id === 'made-1'),
    /** The provider's next replies, in the order of their requests. */
    holdGets: (...swaps: readonly Swap[]) => hold('get', swaps.map(detailed)),
    holdList: (...swaps: readonly Swap[]) => hold('list', [page(swaps)])[0] as HeldReply,
    /** From now on the provider reports these facts. */
    report(facts: Swap): void {
      provider.reply('get', { json: detailed(facts) })
      keep(facts)
    },
    /** The provider has created it, and the returned function lets its response through. */
    async startCreate(at: StartedGateway = place.gateway): Promise<() => Promise<void>> {
      const [held] = hold('create', [created(made)]) as readonly [HeldReply]
      const creating = clientOf(at).post('/transactions', orderIn('A'), { key })
      await held.received
      keep(made)
      return async () => {
        held.send()
        expect((await creating).json).toMatchObject({ id, depositAddress: made.depositAddress })
      }
    },
  }
}

export function statusOf({ json }: ReceivedResponse): unknown {
  return (json as { status: unknown }).status
}

/** The status of the row of `made`. */
export function listedStatusOf({ json }: ReceivedResponse): unknown {
  const { data } = json as { data: readonly { readonly id: string; readonly status: unknown }[] }
  return data.find(({ id }) => id.endsWith('~made-1'))?.status
}
