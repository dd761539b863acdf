/** The table of a response, compiled once for both directions. */

import { roundDown, type Status, type StatusWord } from '../../domain/swap/status.ts'
import { compileDecode } from './response-decode.ts'
import { compileNodes, type ResponseCodec, type ResponseFields, type ResponseNodes, slotsOf } from './response-nodes.ts'
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
  let text = ''
  for (const { fullName, prefix, slot, below, of } of list) {
    if (!slot) {
      const value = below ? printBelow(below, of, fields, available, omitted) : undefined
      if (value !== undefined) text += `${text && ','}${prefix}${value}`
      else if (!below) omitted.add(fullName)
      continue
    }
    const { field, name, absence, scalar, isEmptyIfNone } = slot
    const known = fields[field]
    const value = field === 'status' && known !== undefined ? roundDown(known as Status, available) : known
    if (value !== undefined) text += `${text && ','}${prefix}${scalar.toJson(value)}`
    else if (absence === 'null') text += `${text && ','}${prefix}null`
    else if (isEmptyIfNone) text += `${text && ','}${prefix}""`
    else if (absence !== 'extension') omitted.add(name)
  }
  return `{${text}}`
}

/** An object, or the list of a field; undefined if the field is unknown. */
function printBelow(
  nodes: ResponseNodes,
  of: string | undefined,
  fields: Readonly<ResponseFields>,
  available: ReadonlySet<string>,
  omitted: Set<string>,
): string | undefined {
  if (of === undefined) return print(nodes, fields, available, omitted)
  const items = fields[of] as readonly ResponseFields[] | undefined
  return items && `[${items.map((item) => print(nodes, item, available, omitted)).join(',')}]`
}
