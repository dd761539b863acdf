/** Mutants that no exchange can distinguish from the form, and why. */
import type { Mutant } from './mutants.ts'

interface Equivalent {
  readonly why: string
  readonly is: (mutant: Mutant) => boolean
}

const inQuery: ReadonlySet<string> = new Set(['search', 'networkFrom', 'networkTo', 'dateFrom', 'dateTo'])

const equivalents: readonly Equivalent[] = [
  {
    why: 'a query has no null, and the text of a parameter is read before its marker is looked at',
    is: ({ kind, was, becomes }) => kind === 'presence' && inQuery.has(fieldOf(was)) && becomes === `extension('${fieldOf(was)}')`,
  },
  {
    why: 'a path without its last segment is another path: the parameter cannot be missing',
    is: ({ kind, was, table }) => kind === 'presence' && table === 'request' && was === `'id'`,
  },
  {
    why: 'the gateway always knows the id that it asks for, where a page starts, and the quote of a create that needs one',
    is: ({ kind, becomes }) => kind === 'presence' && /^optional\('(?:id|offset|quoteId)'\)$/.test(becomes),
  },
  {
    why: 'the call beside the operation is never asked for what the operation itself refuses',
    is: ({ kind, becomes, source }) => kind === 'presence' && becomes === `optional('rateType')` && source.includes('also: range'),
  },
  {
    why: 'another line of the same field is still required',
    is: ({ kind, becomes, source }) =>
      kind === 'presence' && becomes === `optional('amountIn')` && /fallback\((?:\w+\()*'amountIn'/.test(source),
  },
  {
    why: 'a field that is assumed may be absent in any case',
    is: ({ kind, becomes, source }) =>
      kind === 'presence' && /^'(?:name|icon)'$/.test(becomes) && new RegExp(`assumes: \\[[^\\]]*${becomes}`).test(source),
  },
]

function fieldOf(entry: string): string {
  return /'(\w+)'/.exec(entry)?.[1] ?? ''
}

export function whyEquivalent(mutant: Mutant): string | undefined {
  return equivalents.find(({ is }) => is(mutant))?.why
}
