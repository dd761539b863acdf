/** A trace of the model as Quint writes it down (ITF), read into plain values. */
import type { ItfTrace } from '@informalsystems/quint/dist/src/itf.js'

export type ProcessName = 'north' | 'south'
export type ClientName = 'ann-1' | 'ann-2' | 'bob'
export type ProviderName = 'alpha' | 'beta'
export type WriteOutcome = 'Works' | 'Fails' | 'ReplyLost'

export interface Terms {
  readonly network: 'TRX' | 'ETH'
  readonly memo: string
}

interface Variant<Tag extends string = string> {
  readonly tag: Tag
  readonly value: unknown
}

export interface ListRead {
  readonly process: ProcessName
  readonly request: number
  readonly rows: readonly number[]
  readonly actual: readonly number[]
}

interface Request {
  readonly process: ProcessName
  readonly client: ClientName
  readonly provider: ProviderName
  readonly terms: Terms
  readonly stage: Variant<'Arrived' | 'Sent' | 'Over'>
  readonly wasSent: boolean
}

export interface Transaction {
  readonly provider: ProviderName
  readonly holder: string
  readonly terms: Terms
  readonly isAhead: boolean
  readonly isListed: boolean
  readonly isFinished: boolean
}

interface Row {
  readonly provider: ProviderName
  readonly state: Variant<'Pending' | 'Unknown' | 'Done' | 'Mismatch'>
  readonly id: number
}

export type ResponseKind = Variant<'Created' | 'Contradicted' | 'OutcomeUnknown' | 'InProgress' | 'KeyReused' | 'NothingDone'>

/** What is compared, and what the replay goes by. */
export interface State {
  readonly isManaged: boolean
  readonly omitted: readonly ('memo' | 'network')[]
  readonly clockIsAhead: boolean
  readonly running: readonly ProcessName[]
  readonly requests: ReadonlyMap<number, Request>
  readonly transactions: ReadonlyMap<number, Transaction>
  readonly rows: ReadonlyMap<number, Row>
  readonly responses: ReadonlyMap<number, ResponseKind>
  readonly listReads: readonly ListRead[]
}

/** What the simulator chose for an action; which of them are there depends on the action. */
export interface Picks {
  readonly r: number
  readonly id: number
  readonly chance: number
  readonly missed: number
  readonly process: ProcessName
  readonly client: ClientName
  readonly key: string
  readonly terms: Terms
  readonly provider: ProviderName
  readonly memo: string
  readonly listRead: ListRead
}

export interface Step {
  readonly action: string
  readonly picks: Picks
  readonly state: State
}

export function stepsOf({ states }: ItfTrace): readonly Step[] {
  return states.map((state) => {
    const plain = plainOf(state) as State & { readonly 'mbt::actionTaken': string; readonly 'mbt::nondetPicks': object }
    const picks = Object.entries(plain['mbt::nondetPicks']).flatMap(([name, { tag, value }]) =>
      tag === 'Some' ? [[name, value]] : [],
    )
    return { action: plain['mbt::actionTaken'], picks: Object.fromEntries(picks), state: plain }
  })
}

/** As the model's `writeOutcomeOf` has it. */
export function writeOutcomeOf(chance: number): WriteOutcome {
  return chance === 1 ? 'Fails' : chance === 2 ? 'ReplyLost' : 'Works'
}

/** Whole numbers, lists for sets and tuples; what maps an owner's keys is not needed here. */
function plainOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainOf)
  if (typeof value !== 'object' || value === null) return value
  if ('#bigint' in value) return Number(value['#bigint'])
  if ('#set' in value) return plainOf(value['#set'])
  if ('#tup' in value) return plainOf(value['#tup'])
  if ('#map' in value) return new Map(plainOf(value['#map']) as [unknown, unknown][])
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, plainOf(part)]))
}
