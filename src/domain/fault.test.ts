import { globSync, readFileSync } from 'node:fs'
import { parseSync, Visitor } from 'oxc-parser'
import { expect, test } from 'vitest'
import {
  type ErrorType,
  errorTypeOf,
  errorTypes,
  Fault,
  type FaultDetails,
  type FaultKind,
  faultTable,
  reasons,
  type UnavailableCause,
} from './fault.ts'

const faultKinds = Object.keys(faultTable) as readonly FaultKind[]

test.each(faultKinds)('a fault that is %s without an explicit reason has one from the list', (kind) => {
  expect(new Fault(kind, '').reason).toBe(faultTable[kind].reason)
  expect(reasons).toContain(faultTable[kind].reason)
})

test('an explicit reason stays, whatever is added to the fault', () => {
  const fault = new Fault('invalid', '', { reason: 'network_unknown' })
  expect(fault.reason).toBe('network_unknown')
  expect(fault.with({ field: 'networkFrom' })).toMatchObject({ reason: 'network_unknown', field: 'networkFrom' })
  expect(fault.with({ reason: 'refused' }).reason).toBe('refused')
})

test('a request without a fault has no error type', () => {
  expect(errorTypeOf(undefined)).toBe('none')
})

const incomplete = new Fault('timedOut', '')

test.each<[FaultKind, FaultDetails, ErrorType]>([
  ['limited', {}, 'limit_client'],
  ['limited', { reason: 'unverified_limited' }, 'limit_unverified'],
  ['limited', { provider: 'alpha' }, 'provider_limited'],
  ['unavailable', { unavailableCause: 'limited', provider: 'alpha' }, 'provider_limited'],
  ['unavailable', { reason: 'overloaded' }, 'limit_overload'],
  ['unavailable', { unavailableCause: 'budget' }, 'limit_budget'],
  ['unavailable', { unavailableCause: 'cooldown' }, 'provider_cooldown'],
  ['unavailable', { reason: 'ledger_unavailable', effect: 'refused' }, 'gateway_ledger'],
  ['unavailable', { reason: 'ledger_restored', effect: 'refused' }, 'gateway_ledger'],
  ['unavailable', { cause: incomplete }, 'provider_timed_out'],
  ['unavailable', { cause: new Error('x') }, 'provider_failed'],
  ['outcomeUnknown', { cause: new Fault('unavailable', '', { reason: 'ledger_unavailable' }) }, 'gateway_ledger'],
  ['failed', { provider: 'alpha', effect: 'refused' }, 'provider_refused'],
  ['failed', { provider: 'alpha' }, 'provider_failed'],
  ['notFound', { provider: 'alpha' }, 'caller_not_found'],
  ['internal', { cause: new Error('x') }, 'gateway_internal'],
])('%s with %o is %s', (kind, details, type) => {
  expect(errorTypeOf(new Fault(kind, '', details))).toBe(type)
  expect(errorTypeOf(new Fault(kind, '').with(details))).toBe(type)
})

// Nothing is listed that no code makes.

/** The strings that an expression may be. */
function words(node: unknown): readonly string[] {
  if (Array.isArray(node)) return node.flatMap(words)
  if (typeof node !== 'object' || node === null) return []
  const { type, value, test: _condition, ...parts } = node as Readonly<Record<string, unknown>>
  if (type === 'BinaryExpression' || type === 'TSTypeAnnotation') return []
  if (type === 'Literal') return typeof value === 'string' ? [value] : []
  return words([value, ...Object.values(parts)])
}

/** What the source gives to its faults. A word with `_` is a reason wherever it is an argument or a result. */
function given(files: readonly string[]): Readonly<Record<'kinds' | 'reasons' | 'causes', readonly string[]>> {
  const found = { kinds: new Set<string>(), reasons: new Set<string>(), causes: new Set<string>() }
  const add = (to: Set<string>, node: unknown, pattern = /./): void => {
    for (const word of words(node)) if (pattern.test(word)) to.add(word)
  }
  for (const file of files) {
    new Visitor({
      NewExpression({ callee, arguments: [kind] }) {
        if (callee.type === 'Identifier' && callee.name === 'Fault') add(found.kinds, kind)
      },
      CallExpression({ callee, arguments: values }) {
        if (callee.type === 'Identifier' && callee.name === 'standardFault') add(found.kinds, values[0])
        add(found.reasons, values, /_/)
      },
      ReturnStatement: ({ argument }) => add(found.reasons, argument, /_/),
      Property({ key, value }) {
        if (key.type === 'Identifier' && key.name === 'reason') add(found.reasons, value)
        if (key.type === 'Identifier' && key.name === 'unavailableCause') add(found.causes, value)
      },
    }).visit(parseSync(file, readFileSync(file, 'utf8')).program)
  }
  return { kinds: [...found.kinds], reasons: [...found.reasons], causes: [...found.causes] }
}

const source = given(globSync('src/**/*.ts').filter((file) => !file.endsWith('.test.ts')))

test('every kind is thrown, and every reason given to a fault', () => {
  expect(faultKinds.filter((kind) => !source.kinds.includes(kind))).toEqual([])
  expect(reasons.filter((reason) => !source.reasons.includes(reason))).toEqual([])
})

test('every error type is that of a fault that the source makes, and each of those is in the list', () => {
  const sorts: readonly FaultDetails[] = [
    ...[{}, { provider: 'alpha' }, { provider: 'alpha', effect: 'refused' as const }],
    ...reasons.filter((reason) => source.reasons.includes(reason)).map((reason) => ({ reason })),
    ...(source.causes as readonly UnavailableCause[]).map((unavailableCause) => ({ unavailableCause })),
  ]
  const types = faultKinds.flatMap((kind) => sorts.map((details) => errorTypeOf(new Fault(kind, '', details))))
  expect([...new Set(['none', ...types])].toSorted()).toEqual(errorTypes.toSorted())
})
