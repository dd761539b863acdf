/**
 * Compares what clients saw before a restore with what they see after it, swap by swap. A program of its own: it reads the lines of a journal
 * from standard input, prints each contradiction, and ends with 1 if there is one.
 */
import { text } from 'node:stream/consumers'

export type Seen = { readonly account: string } & (
  | {
      readonly what: 'get'
      readonly phase: Phase
      readonly id: string
      readonly status: number
      readonly deposit?: string | undefined
    }
  | {
      readonly what: 'create'
      readonly phase: Phase
      readonly key: string
      readonly status: number
      readonly id?: string | undefined
      readonly deposit?: string | undefined
    }
  | {
      readonly what: 'event' | 'webhook'
      readonly phase: Phase
      readonly number: string
      readonly id: string
      readonly state: string
    }
)
type Told = Extract<Seen, { readonly number: string }>

/** `during`: between the restore and the last decision. */
export type Phase = 'before' | 'during' | 'after'

const journal = (await text(process.stdin))
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Seen)
const contradictions = [...swaps(), ...keys(), ...numbers()]
for (const line of contradictions) process.stdout.write(`${line}\n`)
const count = new Set(journal.flatMap((seen) => (seen.what === 'get' ? [seen.id] : []))).size
process.stdout.write(`${count} swaps compared, ${contradictions.length} contradictions\n`)
process.exitCode = contradictions.length > 0 ? 1 : 0

/** A swap of before is never said not to exist, is there in the end, is no other account's, and keeps its deposit address. */
function* swaps(): Iterable<string> {
  for (const [id, all] of Map.groupBy(journal, (seen) => ('id' in seen ? seen.id : undefined))) {
    if (id === undefined) continue
    const owners = new Set(all.flatMap((seen) => (seen.what !== 'get' || seen.status === 200 ? [seen.account] : [])))
    if (owners.size > 1) yield `${id} was seen by ${[...owners].join(' and ')}`
    const gets = all.filter((seen) => seen.what === 'get')
    for (const { phase, status } of gets)
      if (status === 404 || (phase !== 'during' && status !== 200)) yield `${id} is ${status} ${phase}`
    if (gets.some(({ phase }) => phase === 'before') && !gets.some(({ phase, status }) => phase === 'after' && status === 200))
      yield `${id} was never seen again`
    const deposits = new Set(all.flatMap((seen) => ('deposit' in seen && seen.deposit !== undefined ? [seen.deposit] : [])))
    if (deposits.size > 1) yield `${id} has the deposit addresses ${[...deposits].join(', ')}`
  }
}

/** A key returns its swap, or nothing. */
function* keys(): Iterable<string> {
  const creates = journal.filter((seen) => seen.what === 'create')
  for (const [key, all] of Map.groupBy(creates, ({ account, key }) => `${account} ${key}`)) {
    const ids = new Set(all.flatMap(({ id }) => id ?? []))
    if (ids.size > 1) yield `the key ${key} has returned ${[...ids].join(' and ')}`
    for (const { phase, status } of all)
      if (![201, ...(phase === 'during' ? [409, 503] : [])].includes(status)) yield `the key ${key} is ${status} ${phase}`
  }
}

/** No number is told twice for different things, and what is told later has the greater one. */
function* numbers(): Iterable<string> {
  for (const what of ['event', 'webhook'] as const) {
    const told = toldBy(what)
    for (const [name, all] of Map.groupBy(told, ({ account, number }) => `${account} ${number}`)) {
      const states = new Set(all.map(({ id, state }) => `${id} ${state}`))
      if (states.size > 1) yield `the ${what} ${name} was ${[...states].join(' and ')}`
    }
  }
  for (const [account, all] of Map.groupBy(toldBy('event'), ({ account }) => account)) {
    const numbers = all.map(({ number }) => Number(number))
    if (numbers.some((number, at) => number <= (numbers[at - 1] ?? 0))) yield `the events of ${account} are told in another order`
  }
}

function toldBy(what: Told['what']): readonly Told[] {
  return journal.filter((seen): seen is Told => seen.what === what)
}
