/** A question's table, compiled once to both directions. A question loses nothing: what cannot be said is a problem. */
import type { Reason } from '../domain/reason.ts'
import { JsonObject, type JsonValue, printString } from './json.ts'
import { asked, type Notation } from './notation.ts'
import { WireProblem } from './problem.ts'
import { parseQuery, printQuery } from './query.ts'
import { type Entry, type Table, toEntry } from './table.ts'

type Question = Record<string, unknown>

/** A question as it stands in a request: in the path, in the query, in the body. */
export interface Asked<Body> {
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Without its `?`. */
  readonly query: string
  readonly body: Body
}

export interface QuestionCodec {
  /** What can be asked, in the order of the table. */
  readonly slots: readonly QuestionSlot[]
  /** Throws a `WireProblem` that names the first bad parameter. */
  readonly decode: (asked: Asked<JsonValue | undefined>) => Question
  /** Throws a `WireProblem` that names the domain field which the form cannot say, or needs to be told. */
  readonly encode: (question: Readonly<Question>) => Asked<string | undefined>
}

export interface QuestionSlot extends Entry {
  readonly name: string
  readonly notation: Notation<unknown>
  readonly place: 'path' | 'query' | 'body'
}

const notationOf: Readonly<Record<string, Notation<unknown>>> = {
  amountIn: asked.amount,
  rateType: asked.rateType,
  page: asked.page,
  size: asked.size,
  dateFrom: asked.date,
  dateTo: asked.date,
  withdrawalAddress: asked.address,
  refundAddress: asked.address,
  withdrawalExtraId: asked.extraId,
  refundExtraId: asked.extraId,
}

/** What is wrong of these has a word of its own. */
const misfits: ReadonlyMap<Notation<unknown>, Reason> = new Map<Notation<unknown>, Reason>([
  [asked.address, 'address_invalid'],
  [asked.extraId, 'memo_invalid'],
])

/** `inPath` names the path's parameters; the rest stands in the body where the operation has one, else in the query. */
export function compileQuestion(table: Table, inPath: ReadonlySet<string>, hasBody: boolean): QuestionCodec {
  const slots = Object.entries(table).map(([name, value]): QuestionSlot => {
    const entry = toEntry(value)
    const place = inPath.has(name) ? 'path' : hasBody ? 'body' : 'query'
    return { ...entry, name, notation: notationOf[entry.field] ?? asked.name, place }
  })
  const inPathSlots = slots.filter(({ place }) => place === 'path')
  const rest = slots.filter(({ place }) => place !== 'path')
  const sayable = new Set(slots.map(({ field }) => field))
  return {
    slots,
    decode({ path, query, body }) {
      const question: Question = {}
      for (const { name, field } of inPathSlots) question[field] = path[name]
      readQuery(query, hasBody ? [] : rest, question)
      if (hasBody) readBody(body, rest, question)
      for (const slot of rest) complete(slot, question)
      return question
    },
    encode(question) {
      for (const field in question) {
        if (question[field] !== undefined && !sayable.has(field)) throw new WireProblem(field, 'it cannot be asked for')
      }
      const said = rest.filter((slot) => isSaid(slot, question))
      return {
        path: Object.fromEntries(inPathSlots.map(({ name, field }) => [name, String(question[field])])),
        query: hasBody ? '' : printQuery(said.map((slot) => [slot.name, slot.notation.toText(question[slot.field])])),
        body: hasBody ? printBody(said, question) : undefined,
      }
    },
  }
}

function readQuery(query: string, slots: readonly QuestionSlot[], question: Question): void {
  parseQuery(query, (name, text) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireProblem(name, 'it is not a parameter here', 'parameter_unknown')
    if (question[slot.field] !== undefined) throw new WireProblem(name, 'it is given twice')
    question[slot.field] = accept(slot, slot.notation.fromText(text))
  })
}

function readBody(body: JsonValue | undefined, slots: readonly QuestionSlot[], question: Question): void {
  if (!(body instanceof JsonObject)) throw new WireProblem('', 'the body must be a JSON object', 'body_invalid')
  body.keys.forEach((name, at) => {
    const slot = slots.find((candidate) => candidate.name === name)
    if (!slot) throw new WireProblem(name, 'it is not a parameter here', 'parameter_unknown')
    const value = body.values[at] as JsonValue
    if (slot.absence === 'extension' && (value === null || value === '')) return
    question[slot.field] = accept(slot, slot.notation.fromJson(value))
  })
}

function accept({ name, notation }: QuestionSlot, value: unknown): unknown {
  if (value === undefined) throw new WireProblem(name, `it must be ${notation.must}`, misfits.get(notation))
  return value
}

function complete(slot: QuestionSlot, question: Question): void {
  if (question[slot.field] !== undefined) return
  if (slot.standard !== undefined) question[slot.field] = slot.standard
  else if (slot.absence === 'required') throw new WireProblem(slot.name, 'it is missing', reasonOfMissing(slot))
}

function reasonOfMissing({ field }: QuestionSlot): Reason {
  return field === 'networkFrom' || field === 'networkTo' ? 'network_required' : 'parameter_invalid'
}

function isSaid(slot: QuestionSlot, question: Readonly<Question>): boolean {
  if (question[slot.field] !== undefined) return true
  if (slot.absence === 'required') throw new WireProblem(slot.field, 'it is needed', reasonOfMissing(slot))
  return false
}

function printBody(slots: readonly QuestionSlot[], question: Readonly<Question>): string {
  return `{${slots.map(({ name, field, notation }) => `${printString(name)}:${notation.toJson(question[field])}`).join(',')}}`
}
