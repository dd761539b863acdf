/** What a form always needs: each field of the request, and each member of a response, is removed in turn. */
import { equal, ok } from 'node:assert/strict'
import { Fault } from '../../src/domain/fault.ts'
import type { ProviderForm } from '../../src/wire/provider-form.ts'
import { type Connected, callProvider, expecting, type Outcome } from './connected.ts'
import type { ProviderGolden } from './golden.ts'

export async function checkAbsences(form: ProviderForm, golden: ProviderGolden): Promise<void> {
  if (golden.requiredInRequest) await checkRequest(form, golden, golden.requiredInRequest)
  for (const [at, required] of golden.requiredInResponse) await checkResponse(form, golden, at, required)
}

async function checkRequest(form: ProviderForm, golden: ProviderGolden, required: ReadonlySet<string>): Promise<void> {
  const { request, settings, exchanges } = golden
  for (const field of required) ok(Object.hasOwn(request.fields, field) || field === 'none', `${field} is not in the request`)
  for (const field of Object.keys(request.fields)) {
    if (field === 'amountOut') continue // without it the request is one by the amount that is sent
    const { [field]: _gone, ...fields } = request.fields
    const { outcome, sent } = await callProvider(form, { ...request, fields }, settings, expecting(exchanges).answer)
    const isRefused = 'fault' in outcome && outcome.fault instanceof Fault && outcome.fault.field === field
    equal(isRefused, required.has(field), `${field} is missing: ${describe(outcome)}`)
    if (isRefused) ok(sent.length < exchanges.length, `${field} is missing, and yet every call was made`)
  }
}

/** Without a required member an answer is unreadable; a currency's row is only dropped. */
async function checkResponse(form: ProviderForm, golden: ProviderGolden, at: number, required: ReadonlySet<string>): Promise<void> {
  const { response } = golden.exchanges[at] as ProviderGolden['exchanges'][number]
  const visited = new Set<string>()
  for (const { path, text, how } of variants(response.body)) {
    visited.add(path)
    const exchanges = golden.exchanges.map((exchange, index) =>
      index === at ? { ...exchange, response: { ...response, body: text } } : exchange,
    )
    const connected = await callProvider(form, golden.request, golden.settings, expecting(exchanges).answer)
    equal(isSpoiled(connected, golden), required.has(path), `${path} ${how}: ${describe(connected.outcome)}`)
  }
  for (const path of required) ok(visited.has(path) || path === 'none', `${path} is not in response ${at + 1}`)
}

function isSpoiled({ outcome }: Connected, golden: ProviderGolden): boolean {
  if ('fault' in outcome) {
    ok(outcome.fault instanceof Fault && outcome.fault.kind === 'unreadable', describe(outcome))
    return true
  }
  const { dropped = 0 } = outcome.body as { readonly dropped?: number }
  return dropped > Number(golden.outcome.body.dropped ?? 0)
}

interface Variant {
  readonly path: string
  readonly how: string
  readonly text: string
}

const variantsByText = new Map<string, readonly Variant[]>()

/** The document without each of its members, at any depth, and with null instead of it. Of a list only the first item is looked at. */
function variants(text: string): readonly Variant[] {
  const made = variantsByText.get(text) ?? [...makeVariants(text)]
  variantsByText.set(text, made)
  return made
}

function* makeVariants(text: string): Generator<Variant> {
  for (const path of pathsOf(JSON.parse(text))) {
    for (const how of ['is missing', 'is null'] as const) {
      const document: unknown = JSON.parse(text)
      const object = objectAt(document, path.slice(0, -1))
      const name = path.at(-1) as string
      if (how === 'is null') object[name] = null
      else delete object[name]
      yield { path: path.join('.'), how, text: JSON.stringify(document) }
    }
  }
}

function pathsOf(value: unknown): readonly (readonly string[])[] {
  const object = firstOf(value)
  if (typeof object !== 'object' || object === null) return []
  return Object.entries(object).flatMap(([name, member]) => [[name], ...pathsOf(member).map((path) => [name, ...path])])
}

function objectAt(document: unknown, path: readonly string[]): Record<string, unknown> {
  const found = path.reduce((value, name) => (firstOf(value) as Record<string, unknown>)[name], document)
  return firstOf(found) as Record<string, unknown>
}

function firstOf(value: unknown): unknown {
  return Array.isArray(value) ? value[0] : value
}

function describe(outcome: Outcome): string {
  return 'fault' in outcome ? String(outcome.fault) : JSON.stringify(outcome.body)
}
