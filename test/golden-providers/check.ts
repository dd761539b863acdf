/** The checks of a provider's golden, as plain functions that throw: the tests and the mutation run both call them. */
import { deepEqual, equal, ok } from 'node:assert/strict'
import { Fault } from '../../src/domain/fault.ts'
import type { ActionOffer, SwapAction } from '../../src/domain/swap-action.ts'
import type { ProviderForm } from '../../src/wire/provider-form.ts'
import { known, sameRequest } from '../golden/check.ts'
import type { GoldenResponse } from '../golden/golden.ts'
import { checkAbsences } from './absence.ts'
import { callProvider, expecting, type Outcome, targetOf } from './connected.ts'
import type { ProviderGolden } from './golden.ts'

/** Throws if the form does not do what the golden has. */
export async function checkProviderGolden(form: ProviderForm, golden: ProviderGolden): Promise<void> {
  await checkExchanges(form, golden)
  await checkAbsences(form, golden)
}

export async function checkExchanges(
  form: ProviderForm,
  { request, settings, exchanges, outcome: expected, drift: expectedDrift }: ProviderGolden,
): Promise<void> {
  const { answer, paired } = expecting(exchanges)
  const { outcome, sent, drift } = await callProvider(form, request, settings, answer)
  for (const [call, exchange] of paired) sameRequest(call, exchange.request)
  deepEqual(sent.map(targetOf).sort(), exchanges.map((exchange) => targetOf(exchange.request)).sort())
  checkOutcome(outcome, expected)
  deepEqual(drift, expectedDrift)
}

function checkOutcome(outcome: Outcome, { fault: kind, derived, awaitsOwner, body }: GoldenResponse): void {
  if (kind !== undefined) {
    ok('fault' in outcome && outcome.fault instanceof Fault, `a Fault was expected, not ${JSON.stringify(outcome)}`)
    deepEqual(detailsOf(outcome.fault), { kind, ...body })
    return
  }
  ok('body' in outcome, 'fault' in outcome ? describeFault(outcome.fault) : '')
  const actual = known(outcome.body as object) as Record<string, unknown>
  const isPage = 'items' in body
  deepEqual(isPage ? { dropped: 0, ...actual } : withNow(actual, body), isPage ? { dropped: 0, ...body } : body)
  deepEqual([...outcome.derived].sort(), [...derived].sort())
  equal(outcome.awaitsOwner, awaitsOwner)
}

/** The time of the call as `now`, where that is expected. */
function withNow(actual: Record<string, unknown>, expected: GoldenResponse['body']): object {
  if (expected.createdAt !== 'now') return actual
  const age = Date.now() - Date.parse(String(actual.createdAt))
  return age >= 0 && age < 60_000 ? { ...actual, createdAt: 'now' } : actual
}

function detailsOf({ kind, message, reason, effect, field, amountRange, retryAfter, refusal }: Fault): unknown {
  return known({
    kind,
    message,
    reason,
    effect,
    field,
    amountRange,
    retryAfter,
    isQuoteExpired: refusal === 'quoteExpired' || undefined,
  })
}

function describeFault(fault: unknown): string {
  return fault instanceof Fault ? `a fault: ${JSON.stringify(detailsOf(fault))} ${String(fault.cause ?? '')}` : String(fault)
}

/** What a form is besides its exchanges. */
export interface ProviderPromises {
  readonly name: string
  readonly newestFirst: boolean
  readonly hasExpectedAmount: boolean
  readonly pageSize: number
  readonly keyed: readonly string[]
  readonly networks: ProviderForm['networks']
  readonly assets: ProviderForm['assets']
  readonly depositMemo: readonly string[]
  /** Whether the flags of its list say where deposits need a memo; default: no. */
  readonly flagsDepositMemos?: true
  readonly hasSecretIds?: true
  readonly settings: readonly string[]
  /** Default: none. */
  readonly optionalSettings?: ProviderForm['optionalSettings']
  /** Default: none. */
  readonly actions?: Readonly<Partial<Record<SwapAction, ActionOffer>>>
  /** Of the list of currencies, where it may be more than that of any answer. */
  readonly maxResponseBytes?: number
}

/** Its statuses are shown one by one by goldens. */
export function checkProviderPromises(form: ProviderForm, promises: ProviderPromises): void {
  const { name, capabilities, keyed, networks, assets, depositMemo, flagsDepositMemos, hasSecretIds, settings, optionalSettings } =
    form
  const { newestFirst, hasExpectedAmount, pageSize } = capabilities
  const maxResponseBytes = form.operation('listCurrencies')?.maxResponseBytes
  const actions = [...form.actions].map(([action, { offeredIn, isReported, takesAddress }]) => [
    action,
    { offeredIn, isReported, takesAddress },
  ])
  deepEqual(
    {
      ...{ name, newestFirst, hasExpectedAmount, pageSize, keyed: [...keyed], networks, assets, depositMemo, settings },
      ...(flagsDepositMemos && { flagsDepositMemos }),
      ...(hasSecretIds && { hasSecretIds }),
      ...(Object.keys(optionalSettings).length > 0 && { optionalSettings }),
      ...(actions.length > 0 && { actions: Object.fromEntries(actions) }),
      ...(maxResponseBytes !== undefined && { maxResponseBytes }),
    },
    promises,
  )
  equal(form.operations.length > 0, true)
}
