/** A gateway before the stand-in of a real provider, and two accounts with swaps there. */

import type { ProviderName } from '../providers/documented.ts'
import { addresses, type CreateFacts, type Rig, startRig } from '../providers/rig.ts'
import type { Action, Swap } from '../providers/stand-ins/exchange.ts'
import type { ReceivedResponse } from '../support/client.ts'
import { type Client, client, type FormName } from '../support/pair.ts'

export const refundAddress = '0x52908400098527886E0F7030069857D2E4169EE7'
export const otherAddress = '0xde709f2102306220921060314715629080e2fb77'

export interface ActionRig extends Rig {
  /** Of the account `acme`. */
  readonly key: string
  /** A swap of the account `acme` without a refund address, by its id for clients. */
  readonly begin: (facts?: CreateFacts) => Promise<string>
  readonly swap: () => Swap
  readonly read: (form: FormName, id: string) => Promise<Shown>
  readonly act: (form: FormName, id: string, action: string, body?: object, key?: string) => Promise<ReceivedResponse>
  /** The bodies of what the provider got. */
  readonly sent: (...actions: readonly Action[]) => readonly unknown[]
}

export interface Shown {
  readonly status: string
  readonly capabilities?: readonly string[]
  readonly refundAddress?: string
  readonly refund_address?: string
}

export async function startActions(name: ProviderName, settings: Parameters<typeof startRig>[1] = {}): Promise<ActionRig> {
  const rig = await startRig(name, settings)
  const key = await rig.gateway.issueKey('acme')
  const of = (form: FormName): Client => client(form, rig.gateway.url)
  return {
    ...rig,
    key,
    exchange: rig.exchange,
    async begin(facts = {}) {
      const { json, text } = await rig.create('A', { ...facts, body: { refundAddress: undefined, ...facts.body } })
      const { id } = json as { readonly id?: string }
      if (id === undefined) throw new Error(text)
      return id
    },
    swap() {
      const last = rig.exchange.swaps.at(-1)
      if (!last) throw new Error('nothing was created')
      return last
    },
    async read(form, id) {
      const { json, status, text } = await of(form).get(`/transactions/${id}`, { key })
      if (status !== 200) throw new Error(text)
      return json as Shown
    },
    act: (form, id, action, body = {}, own = key) => of(form).post(`/transactions/${id}/${action}`, body, { key: own }),
    sent: (...actions) => actions.flatMap((action) => rig.exchange.received(action)).map(({ body }) => JSON.parse(body) as unknown),
    [Symbol.asyncDispose]: () => rig[Symbol.asyncDispose](),
  }
}

export { addresses }
