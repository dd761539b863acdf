/** Encodes a request by its table. A field that the table cannot express is an error, never dropped. */
import type { Reason } from '../../domain/fault.ts'
import { printString } from '../json.ts'
import { printQuery } from '../query.ts'
import { WireError } from '../wire-error.ts'
import type { Scalar } from './scalar.ts'
import type { RequestTree, TableColumn } from './table.ts'

export type RequestFields = Record<string, unknown>

/** The parts of an HTTP request that carry fields. */
export interface RequestParts<Body> {
  /** The path's parameters, decoded. */
  readonly path: Readonly<Record<string, string>>
  /** Without its `?`. */
  readonly query: string
  readonly body: Body
}

export interface RequestSlot extends TableColumn {
  readonly name: string
  readonly scalar: Scalar<unknown>
  readonly place: 'path' | 'query' | 'body'
}

/** `providers.<name>.settings`. */
export type Settings = Readonly<Record<string, string>>

export interface RequestEncoder {
  /** The fields, in the order of the table. */
  readonly slots: readonly RequestSlot[]
  /** Throws a `WireError` that names a field which the form cannot express or requires. */
  readonly encode: (request: object, settings?: Settings) => RequestParts<string | undefined>
}

type RequestNode = { readonly name: string } & (
  | { readonly slot: RequestSlot }
  | { readonly below: readonly RequestNode[] }
  | { readonly always: string | number | boolean }
  | { readonly setting: string }
)

export type ToSlot = (name: string, column: string | TableColumn) => RequestSlot

/** `implied`: fields that the call implies without a line. `hasBody`: fields outside the path are in the body; otherwise in the query, without objects. */
export function compileRequestEncode(
  tree: RequestTree,
  toSlot: ToSlot,
  hasBody: boolean,
  implied: readonly string[] = [],
): RequestEncoder {
  const nodes = compileNodes(tree, toSlot)
  const slots = slotsOf(nodes)
  const inPathSlots = slots.filter(({ place }) => place === 'path')
  const knownFields = new Set([...slots.map(({ field }) => field), ...implied])
  return {
    slots,
    encode(request, settings = {}) {
      const fields = request as Readonly<RequestFields>
      for (const field in fields) {
        if (fields[field] !== undefined && !knownFields.has(field)) throw new WireError(field, 'the form cannot express it')
      }
      const path: Record<string, string> = {}
      for (const slot of inPathSlots) if (isPresent(slot, fields)) path[slot.name] = slot.scalar.toText(fields[slot.field])
      return {
        path,
        query: hasBody ? '' : printQuery(nodes.flatMap((node) => queryPart(node, fields, settings))),
        body: hasBody ? (printObject(nodes, fields, settings) ?? '{}') : undefined,
      }
    },
  }
}

function compileNodes(tree: RequestTree, toSlot: ToSlot): readonly RequestNode[] {
  return Object.entries(tree).map(([name, line]): RequestNode => {
    if (typeof line === 'string' || 'field' in line) return { name, slot: toSlot(name, line) }
    if ('always' in line) return { name, always: line.always }
    if ('setting' in line) return { name, setting: line.setting }
    return { name, below: compileNodes(line.inside, toSlot) }
  })
}

function slotsOf(nodes: readonly RequestNode[]): readonly RequestSlot[] {
  return nodes.flatMap((node) => ('slot' in node ? [node.slot] : 'below' in node ? slotsOf(node.below) : []))
}

function queryPart(node: RequestNode, fields: Readonly<RequestFields>, settings: Settings): readonly (readonly [string, string])[] {
  const { name } = node
  if ('always' in node) return [[name, String(node.always)]]
  if ('setting' in node) return settings[node.setting] === undefined ? [] : [[name, settings[node.setting] ?? '']]
  if ('below' in node || node.slot.place === 'path') return []
  if (isPresent(node.slot, fields)) return [[name, node.slot.scalar.toText(fields[node.slot.field])]]
  return node.slot.isEmptyIfNone ? [[name, '']] : []
}

/** Undefined for an object without members, unless its table has no lines. */
function printObject(nodes: readonly RequestNode[], fields: Readonly<RequestFields>, settings: Settings): string | undefined {
  const members = nodes.flatMap((node) => {
    const value = printMember(node, fields, settings)
    return value === undefined ? [] : [`${printString(node.name)}:${value}`]
  })
  return members.length > 0 || nodes.length === 0 ? `{${members.join(',')}}` : undefined
}

function printMember(node: RequestNode, fields: Readonly<RequestFields>, settings: Settings): string | undefined {
  if ('always' in node) return JSON.stringify(node.always)
  if ('setting' in node) return settings[node.setting] === undefined ? undefined : printString(settings[node.setting] ?? '')
  if ('below' in node) return printObject(node.below, fields, settings)
  if (node.slot.place === 'path') return undefined
  if (isPresent(node.slot, fields)) return node.slot.scalar.toJson(fields[node.slot.field])
  return node.slot.isEmptyIfNone ? '""' : undefined
}

function isPresent({ field, absence }: RequestSlot, fields: Readonly<RequestFields>): boolean {
  if (fields[field] !== undefined) return true
  if (absence === 'required') throw new WireError(field, 'it is needed', reasonOfMissing(field))
  return false
}

export function reasonOfMissing(field: string): Reason {
  return field === 'networkFrom' || field === 'networkTo' ? 'network_required' : 'parameter_invalid'
}
