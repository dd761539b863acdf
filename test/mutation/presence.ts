/** Mutants of the markers of unknown fields: every marker in place of every other. */
import type { Propose } from './mutants.ts'
import type { Member } from './scan.ts'

const entry = /^(?:(\w+)\()?('\w+')(?:, ([\s\S]*?))?\)?$/

/** `items`, `reason`, `status`…: the places of envelopes and errors, which have no marker. */
const marked: ReadonlySet<string> = new Set(['request', 'response'])

export function presenceMutants({ value, valueStart, within }: Member, propose: Propose): void {
  const [, marker = 'bare', field = '', rest] = entry.exec(value) ?? []
  const isTable = within[0] !== '' || within.some((name) => marked.has(name))
  if (field === '' || !isTable) return
  if (marker === 'withDefault') defaultMutants(field, rest ?? '', value, valueStart, propose)
  else markerMutants(marker, field, { value, valueStart, within }, propose)
  if (marker === 'optional' && rest !== undefined) conditionMutants(field, rest, value, valueStart, propose)
}

type Place = Pick<Member, 'value' | 'valueStart' | 'within'>

function markerMutants(marker: string, field: string, { value, valueStart, within }: Place, propose: Propose): void {
  const markers: Readonly<Record<string, string>> = {
    bare: field,
    optional: `optional(${field})`,
    orNull: `orNull(${field})`,
    extension: `extension(${field})`,
  }
  for (const [other, text] of Object.entries(markers)) {
    if (other !== marker && (other !== 'orNull' || !within.includes('request'))) propose('presence', valueStart, value, text)
  }
}

/** In a request: another default, or none. */
function defaultMutants(field: string, defaultText: string, value: string, start: number, propose: Propose): void {
  const others: Readonly<Record<string, string>> = { "'float'": "'fixed'", '1': '2', '20': '50', '50': '20' }
  propose('default', start, value, `withDefault(${field}, ${others[defaultText] ?? "'X'"})`)
  propose('presence', start, value, field)
  propose('presence', start, value, `optional(${field})`)
}

/** When a field of a response may be absent: always, never, and the other way round. */
function conditionMutants(field: string, condition: string, value: string, start: number, propose: Propose): void {
  propose('condition', start, value, `optional(${field})`)
  propose('condition', start, value, `optional(${field}, () => false)`)
  propose('condition', start, value, `optional(${field}, ${condition.replace(/=> (.*)$/s, '=> !($1)')})`)
  if (condition.includes("'")) propose('condition', start, value, `optional(${field}, ${condition.replace(/'(\w+)'/, "'$1X'")})`)
}
