/** Compares the real gateways, their ledger and the providers with the model after a step. */
import type { ReceivedResponse } from '../support/client.ts'
import type { ResponseKind, State } from './trace.ts'
import type { World } from './world.ts'

/** Everything that is not as the model has it. */
export async function differences(world: World, state: State): Promise<readonly string[]> {
  return [...responsesOf(world, state), ...sentOf(world, state), ...(await rowsOf(world, state))]
}

function responsesOf({ creates, doubted }: World, { responses }: State): readonly string[] {
  return [...creates].flatMap(([r, { response }]) => {
    const kind = responses.get(r)
    if (!kind && !response) return []
    const summary = response ? summaryOf(response) : 'nothing'
    const meant = kind ? meaningOf(kind) : 'nothing'
    const isDoubted = kind?.tag === 'Created' && doubted.has(Number(kind.value)) && summary === 'Contradicted'
    return summary === meant || isDoubted
      ? []
      : [`request ${r} got ${summary} (${response?.status} ${response?.text}), and not ${meant}`]
  })
}

function meaningOf({ tag, value }: ResponseKind): string {
  return tag === 'Created' ? `tx-${value} with deposit-${value}` : tag
}

const reasons: Readonly<Record<string, ResponseKind['tag']>> = {
  mismatch: 'Contradicted',
  outcome_unknown: 'OutcomeUnknown',
  in_progress: 'InProgress',
  key_reused: 'KeyReused',
  refused: 'NothingDone',
  ledger_unavailable: 'NothingDone',
}

function summaryOf({ status, headers, json }: ReceivedResponse): string {
  const { id, deposit_address: address } = (json ?? {}) as { id?: string; deposit_address?: string }
  if (status === 200) return `${id?.split('~')[1]} with ${address}`
  return reasons[String(headers['x-swap-reason'])] ?? String(headers['x-swap-reason'])
}

function sentOf({ exchanges }: World, { requests }: State): readonly string[] {
  const meant = [...requests.values()].filter(({ wasSent }) => wasSent).length
  const received = exchanges.alpha.received + exchanges.beta.received
  return received === meant ? [] : [`the providers received ${received} creates, and not ${meant}`]
}

async function rowsOf({ store, creates }: World, { rows }: State): Promise<readonly string[]> {
  const open = new Map(
    (await store.ledgerAdmin.unresolved()).map(({ intent, state }) => [intent, state === 'mismatch' ? 'Mismatch' : 'open']),
  )
  const done = new Set<string>()
  for await (const { isCreated, owner, provider, transaction } of store.ledgerAdmin.export()) {
    if (isCreated) done.add(`${owner} ${provider} ${transaction.id}`)
  }
  const found = [...open].map(([intent, state]) => `${numberOf(creates, intent)} ${state}`)
  const meant = [...rows].map(([r, { state, id }]) => {
    const { owner, provider } = creates.get(r)?.intent ?? {}
    if (state.tag === 'Done') return `${owner} ${provider} tx-${id}`
    return `${r} ${state.tag === 'Mismatch' ? 'Mismatch' : 'open'}`
  })
  const [one, other] = [[...found, ...done].toSorted().join(', '), meant.toSorted().join(', ')]
  return one === other ? [] : [`the ledger holds: ${one}; and not: ${other}`]
}

function numberOf(creates: World['creates'], intent: string): number | string {
  return [...creates].find(([, create]) => create.intent?.id === intent)?.[0] ?? intent
}
