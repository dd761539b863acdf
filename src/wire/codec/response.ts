/** The table of a response, compiled once for both directions. */

import { roundDown, type Status, type StatusWord } from '../../domain/status.ts'
import { compileDecode } from './response-decode.ts'
import {
  compileNodes,
  type ResponseCodec,
  type ResponseFields,
  type ResponseNode,
  type ResponseNodes,
  type ResponseSlot,
  slotsOf,
} from './response-nodes.ts'
import type { ResponseTree } from './table.ts'

/** The status words that can be decoded and encoded. */
export interface StatusWords {
  readonly meanings: ReadonlyMap<string, StatusWord>
  readonly available: ReadonlySet<string>
}

/** `readOnly`: lines that are decoded as well, and never encoded. */
export function compileResponse(tree: ResponseTree, statuses: StatusWords, readOnly: ResponseTree = {}): ResponseCodec {
  const nodes = compileNodes(tree, [])
  const decoded = compileNodes({ ...readOnly, ...tree }, [])
  return {
    nodes,
    slots: slotsOf(nodes),
    ...compileDecode(decoded, slotsOf(decoded), statuses.meanings),
    encode: compileEncode(nodes, statuses.available),
  }
}

function compileEncode(nodes: ResponseNodes, available: ReadonlySet<string>): ResponseCodec['encode'] {
  return (response, omitted) => print(nodes, response as Readonly<ResponseFields>, available, omitted)
}

function print(
  { list }: ResponseNodes,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string {
  // Text after text: V8 copies each part of a template once more when the response is sent.
  let text = '{'
  for (const node of list) {
    const printed = node.slot ? printSlot(node.slot, fields, available, omitted) : printBelow(node, fields, available, omitted)
    if (printed === undefined) continue
    text += text === '{' ? node.prefix : node.nextPrefix
    text += printed
  }
  return `${text}}`
}

/** The value of a field; undefined if it is omitted. */
function printSlot(
  { field, name, absence, scalar, isEmptyIfNone }: ResponseSlot,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string | undefined {
  const known = fields[field]
  const value = field === 'status' && known !== undefined ? roundDown(known as Status, available) : known
  if (value !== undefined) return scalar.toJson(value)
  if (absence === 'null') return 'null'
  if (isEmptyIfNone) return '""'
  if (absence !== 'extension') omitted.add(name)
  return undefined
}

/** An object, or the list of a field; undefined if the field is unknown. */
function printBelow(
  { fullName, below, of }: ResponseNode,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string | undefined {
  if (!below) {
    omitted.add(fullName)
    return undefined
  }
  if (of === undefined) return print(below, fields, available, omitted)
  const items = fields[of] as readonly ResponseFields[] | undefined
  return items && `[${items.map((item) => print(below, item, available, omitted)).join(',')}]`
}
