/** Checks what must hold after any mix of commands. */
import { depositIn, idIn, isEqual, type Made, type TwinWorld } from './twin-world.ts'

export async function violations(real: TwinWorld): Promise<readonly string[]> {
  const [held, open] = [await real.done(), await real.open()]
  return [
    ...real.wrong,
    ...doubled(real),
    ...shared(real),
    ...reused(real, held),
    ...misled(real),
    ...promised(real, held),
    ...forgotten(real, held, open),
  ]
}

/** Creates of one owner under one key; without a key each is one of its own. */
function uses(real: TwinWorld): ReadonlyMap<string, readonly Made[]> {
  return Map.groupBy(real.made, (create) =>
    create.key === '' ? `create ${real.made.indexOf(create) + 1}` : `${real.ownerOf(create.client)} ${create.key}`,
  )
}

function idsOf(creates: readonly Made[]): ReadonlySet<number> {
  return new Set(creates.flatMap(({ responses }) => responses).flatMap((response) => idIn(response) ?? []))
}

/** A key is sent again only if the provider has refused it. */
function doubled(real: TwinWorld): readonly string[] {
  return [...uses(real)].flatMap(([use, creates]) => {
    const sends = creates.filter(({ isRefused }) => !isRefused).reduce((sum, create) => sum + create.sends, 0)
    const ids = idsOf(creates)
    const isTwice = sends > 1 || creates.some((create) => create.sends > 1) ? [`${use} went up ${sends} times`] : []
    return ids.size > 1 ? [...isTwice, `${use} got ${[...ids]}`] : isTwice
  })
}

/** An id is one create's. */
function shared(real: TwinWorld): readonly string[] {
  const returned = [...uses(real)].flatMap(([use, creates]) => [...idsOf(creates)].map((id) => ({ id, use })))
  return [...Map.groupBy(returned, ({ id }) => id)].flatMap(([id, owners]) =>
    owners.length > 1 ? [`tx-${id} was given to ${owners.map(({ use }) => use).join(' and ')}`] : [],
  )
}

/** Also one whose swap the ledger has forgotten. */
function reused({ pruned }: TwinWorld, held: ReadonlySet<number>): readonly string[] {
  return [...pruned.intersection(held)].map((id) => `tx-${id} was pruned, and is another create's`)
}

function misled(real: TwinWorld): readonly string[] {
  const created = real.made.flatMap(({ request, responses }) => responses.map((response) => ({ request, response })))
  const wrong = created.filter(({ request, response }) => {
    const id = idIn(response)
    if (id === undefined) return false
    const swap = real.swaps[id - 1]
    return depositIn(response) !== `deposit-${id}` || !swap || !isEqual(swap.request, request)
  })
  // What its provider contradicts has no address.
  const mixedUp = real.shown.filter(({ id, deposit }) => deposit !== undefined && deposit !== `deposit-${id}`)
  return [
    ...wrong.map(({ response }) => `a create got another's ${depositIn(response)}`),
    ...mixedUp.map(({ id, deposit }) => `a get of tx-${id} showed ${deposit}`),
  ]
}

/** A deposit address is returned only if the ledger has it, and an outcome is unknown only if a call was sent. */
function promised(real: TwinWorld, held: ReadonlySet<number>): readonly string[] {
  const unheld = [...idsOf(real.made)].filter((id) => !held.has(id) && !real.pruned.has(id))
  const unsent = real.made.filter(
    ({ sends, responses }) => sends === 0 && responses.some(({ headers }) => headers['x-swap-reason'] === 'outcome_unknown'),
  )
  return [
    ...unheld.map((id) => `tx-${id} was returned, and the ledger does not have it`),
    ...unsent.map((create) => `create ${real.made.indexOf(create) + 1} never went up, and its outcome is unknown`),
  ]
}

/** The ledger has what a create made, or its create waits, or was bound to an equal swap. */
function forgotten(real: TwinWorld, held: ReadonlySet<number>, open: ReadonlyMap<string, string>): readonly string[] {
  const lost = real.swaps.filter(({ id, by }) => {
    const { intent = '' } = real.made[by - 1] ?? {}
    return by > 0 && !held.has(id) && !real.pruned.has(id) && !open.has(intent) && !real.found.has(intent)
  })
  return lost.map(({ id, by }) => `tx-${id} is neither bound nor looked for, of create ${by}`)
}
