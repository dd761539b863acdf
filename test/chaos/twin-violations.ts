/** What must never be, whatever happened between two gateways. */
import type { Question } from '../model/trace.ts'
import { depositIn, idIn, type Made, type TwinWorld } from './twin-world.ts'

export async function violations(real: TwinWorld): Promise<readonly string[]> {
  return [...real.wrong, ...doubled(real), ...misled(real), ...(await forgotten(real))]
}

/** Creates of one owner under one key. */
function byKey(real: TwinWorld): ReadonlyMap<string, readonly Made[]> {
  return Map.groupBy(
    real.made.filter(({ key }) => key !== ''),
    ({ client, key }) => `${real.ownerOf(client)} ${key}`,
  )
}

function doubled(real: TwinWorld): readonly string[] {
  return [...byKey(real)].flatMap(([key, creates]) => {
    const numbers = new Set(creates.map((create) => real.made.indexOf(create) + 1))
    const swaps = real.swaps.filter(({ by }) => numbers.has(by))
    const ids = new Set(creates.flatMap(({ answers }) => answers).flatMap((answer) => idIn(answer) ?? []))
    const isTwice = swaps.length > 1 ? [`the key ${key} made ${swaps.length} transactions`] : []
    return ids.size > 1 ? [...isTwice, `the key ${key} was answered with ${[...ids]}`] : isTwice
  })
}

function misled(real: TwinWorld): readonly string[] {
  const created = real.made.flatMap(({ question, answers }) => answers.map((answer) => ({ question, answer })))
  const wrong = created.filter(({ question, answer }) => {
    const id = idIn(answer)
    const swap = real.swaps[(id ?? 0) - 1]
    return (
      id !== undefined && (depositIn(answer) !== `deposit-${id}` || JSON.stringify(swap?.question) !== JSON.stringify(question))
    )
  })
  const mixedUp = real.shown.filter(({ id, deposit }) => deposit !== `deposit-${id}`)
  return [
    ...wrong.map(({ answer }) => `a create was answered with another's ${depositIn(answer)}`),
    ...mixedUp.map(({ id, deposit }) => `a get of tx-${id} showed ${deposit}`),
  ]
}

/** As many creates wait or are done as there are swaps that creates made. */
async function forgotten(real: TwinWorld): Promise<readonly string[]> {
  const [held, open] = [await real.done(), await real.open()]
  const groupOf = (holder: string, question: Question) => `${holder} ${JSON.stringify(question)}`
  const applied = Map.groupBy(
    real.swaps.filter(({ by }) => by > 0),
    ({ holder, question }) => groupOf(holder, question),
  )
  return [...applied].flatMap(([group, swaps]) => {
    const bound = real.swaps.filter(({ id, holder, question }) => held.has(id) && groupOf(holder, question) === group).length
    const waiting = real.made.filter(
      ({ client, question, intent }) => open.has(intent ?? '') && groupOf(real.holderOf(client), question) === group,
    ).length
    return swaps.length > bound + waiting ? [`of ${swaps.length} of ${group}, ${bound} are bound and ${waiting} creates wait`] : []
  })
}
