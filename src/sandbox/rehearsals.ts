/**
 * Amounts with which a client rehearses what a provider does wrong, as payment services have test cards (docs/sandbox.md). The last six
 * decimals of such an amount are 7357 and two digits, the last of which is not 0; no other amount means anything. Only the sandbox reads them.
 */
import { type Amount, plainAmount, toAmount } from '../domain/amount.ts'
import { AssetTable } from '../domain/asset.ts'
import type { Op } from '../domain/service.ts'
import type { Form } from '../wire/form.ts'
import type { HttpRequest } from '../wire/http.ts'
import { JsonError, JsonNumber, JsonObject, parseJson } from '../wire/json.ts'

/** What befalls a quote, a create, and later the gets of its swap. */
interface Rehearsal {
  readonly quote?: Outage
  readonly create?: Outage
  /** What the sandbox creates. */
  readonly swap?: 'withOtherRateType' | 'twice'
  readonly get?: 'fails'
  /** Once its deposit is confirmed. */
  readonly course?: 'held'
  /** What befalls each action on it. */
  readonly action?: Outage
}

export interface Outage {
  readonly latency?: number
  readonly status?: number
  readonly reset?: 'before' | 'after'
  readonly silence?: true
}

/** So long a create with the mark 06 takes. */
const slowMs = 3_000

const rehearsals: Readonly<Record<string, Rehearsal>> = {
  '01': { quote: { status: 400 }, create: { status: 400 } },
  '02': { quote: { status: 500 }, create: { status: 500 } },
  '03': { quote: { silence: true }, create: { silence: true } },
  '04': { create: { reset: 'after' } },
  '05': { create: { reset: 'before' } },
  '06': { create: { latency: slowMs } },
  '07': { swap: 'withOtherRateType' },
  '08': { swap: 'twice', create: { reset: 'after' } },
  '09': { get: 'fails' },
  '11': { course: 'held' },
  '12': { course: 'held', action: { status: 400 } },
  '13': { course: 'held', action: { reset: 'after' } },
  '14': { course: 'held', action: { reset: 'before' } },
}

const mark = /\.[0-9]*7357([0-9]{2})$/

/** What the amount of a request, or of a swap, rehearses; undefined for an ordinary one. */
export function rehearsalOf(amount: Amount): Rehearsal | undefined {
  const [, digits = ''] = mark.exec(plainAmount(amount)) ?? []
  return rehearsals[digits]
}

/** The outage that a quote or a create asks for by its amount, and the request, whose body was read. */
export async function requestedOutage(
  request: HttpRequest,
  op: Op,
  form: Form,
): Promise<{ readonly outage: Outage | undefined; readonly request: HttpRequest }> {
  const names = ['amountIn', 'amountOut'].flatMap((field) => form.operations[op].requestNames.get(field) ?? [])
  if (names.length === 0) return { outage: undefined, request }
  if (op === 'getRate') {
    const query = new URLSearchParams(request.query)
    return { outage: outageOf(names.flatMap((name) => query.get(name) ?? [])[0], 'quote'), request }
  }
  const body = request.body?.()
  const text = await body?.catch(() => undefined) // the handler of the form says what is wrong
  return {
    outage: outageOf(text && amountOf(text, names), 'create'),
    request: { ...request, body: async () => (await body) ?? '' },
  }
}

function outageOf(amount: string | undefined, what: 'quote' | 'create'): Outage | undefined {
  const known = amount === undefined ? undefined : toAmount(amount)
  return known && rehearsalOf(known)?.[what]
}

function amountOf(text: string, names: readonly string[]): string | undefined {
  try {
    const body = parseJson(text)
    const amount = body instanceof JsonObject ? names.map((name) => body.get(name)).find((value) => value !== undefined) : undefined
    return amount instanceof JsonNumber ? amount.lexeme : typeof amount === 'string' ? amount : undefined
  } catch (reason) {
    if (reason instanceof JsonError) return undefined
    throw reason
  }
}

/** A coin of the asset table that the sandbox does not offer. */
const delisted = 'XNO'

/** What the sandbox offers. */
export function offered({ coins }: AssetTable): AssetTable {
  return new AssetTable(coins.filter(({ coin }) => coin !== delisted))
}
