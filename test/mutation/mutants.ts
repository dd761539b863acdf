/** The mistakes that one can make in a form: each changes one thing in its source. */
import { statuses } from '../../src/domain/status.ts'
import { presenceMutants } from './presence.ts'
import { isWire, type Member, scanMembers } from './scan.ts'

export const kinds = [
  'wire name',
  'path',
  'method',
  'success code',
  'credential',
  'form name',
  'status word',
  'default',
  'presence',
  'condition',
  'domain field',
  'missing entry',
  'promise',
  'word',
  'constant',
  'notation',
] as const

export type Kind = (typeof kinds)[number]

export interface Mutant {
  readonly kind: Kind
  readonly line: number
  /** The key of the table in which it is: `request`, `response`, `page`… */
  readonly table: string
  readonly was: string
  readonly becomes: string
  readonly source: string
}

export type Propose = (kind: Kind, start: number, was: string, becomes: string) => void

export function mutantsOf(source: string): readonly Mutant[] {
  const mutants: Mutant[] = []
  let table = ''
  const propose: Propose = (kind, start, was, becomes) => {
    const line = source.slice(0, start).split('\n').length
    const mutated = source.slice(0, start) + becomes + source.slice(start + was.length)
    mutants.push({ kind, line, table, was, becomes, source: mutated })
  }
  const members = scanMembers(source)
  for (const member of members) {
    table = member.within.at(-1) ?? ''
    if (isWire(member)) wireMutants(member, source, propose)
    else settingMutants(member, propose)
  }
  for (const [at, member] of members.entries()) {
    const next = members[at + 1]
    if (next && isWire(member) && isWire(next) && next.within.join() === member.within.join())
      exchange(member, next, source, propose)
  }
  return mutants
}

function wireMutants(member: Member, source: string, propose: Propose): void {
  const { name, start, value, valueStart } = member
  propose('wire name', start, name, `${name}X`)
  const other = otherSpelling(name)
  if (other !== name) propose('wire name', start, name, other)
  const isEnvelope = value.startsWith('{')
  if (isEnvelope) return
  const whole = source.slice(start, valueStart + value.length)
  propose('missing entry', start, `${whole}${source[start + whole.length] === ',' ? ',' : ''}`, '')
  presenceMutants(member, propose)
}

/** `coin_from` for `coinFrom`, and `coinFrom` for `coin_from`. */
function otherSpelling(name: string): string {
  return name.includes('_')
    ? name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
    : name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/** Two neighbours that carry each other's field. */
function exchange(first: Member, second: Member, source: string, propose: Propose): void {
  const was = source.slice(first.start, second.start + second.name.length)
  if (first.value.startsWith('{') || second.value.startsWith('{')) return
  const between = source.slice(first.valueStart - 2, second.start)
  propose('domain field', first.start, was, second.name + between + first.name)
}

function settingMutants({ name, value, valueStart }: Member, propose: Propose): void {
  if (name === 'name') propose('form name', valueStart, value, `'X'`)
  if (name === 'success')
    for (const code of [200, 201, 202]) if (value !== String(code)) propose('success code', valueStart, value, String(code))
  if (name === 'newestFirst') propose('promise', valueStart, value, value === 'true' ? 'false' : 'true')
  if (name === 'at') placeMutants(value, valueStart, propose)
  if (name === 'credential') credentialMutants(value, valueStart, propose)
  if (name === 'statuses') statusMutants(value, valueStart, propose)
}

function placeMutants(value: string, start: number, propose: Propose): void {
  const other = value.startsWith("'GET") ? value.replace('GET', 'POST') : value.replace('POST', 'GET')
  propose('method', start, value, other)
  propose('path', start, value, value.replace(/\/\w+/, '$&X'))
  if (value.includes('{')) propose('path', start, value, value.replace('/{', 'X/{'))
}

function credentialMutants(value: string, start: number, propose: Propose): void {
  const others = [
    'bearer()',
    `keyHeader('X-API-Key')`,
    `keyHeader('X-API-KeyX')`,
    `keyHeader('X-Api-Key')`,
    `keyHeader('Authorization')`,
  ]
  for (const other of others) if (other !== value) propose('credential', start, value, other)
}

function statusMutants(value: string, start: number, propose: Propose): void {
  for (const { 0: word, index } of value.matchAll(/'(\w+)'/g)) {
    propose('status word', start + index, word, word.replace(/'$/, "X'"))
    propose('status word', start + index, word, `'${statuses.find((other) => !value.includes(`'${other}'`)) ?? 'X'}'`)
  }
  for (const status of statuses) if (!value.includes(`'${status}'`)) propose('status word', start, '[', `['${status}', `)
}
