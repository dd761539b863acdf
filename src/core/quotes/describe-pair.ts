/** What a client must know before it offers a pair to its users: by the table, and by quotes for it (docs/contract.md §3.2). */
import { addressPattern, mayNeedMemo } from '../../domain/address/shapes.ts'
import { type Amount, toAmount } from '../../domain/amount.ts'
import { type Asset, type AssetTable, defaultAsset, spellingOf } from '../../domain/asset.ts'
import { BoundedMap, cacheShares } from '../../domain/bounded-map.ts'
import { Fault, type Reason } from '../../domain/fault.ts'
import type { Answer, OfferedRateType } from '../../domain/question.ts'
import type { Context, SwapService } from '../../domain/service.ts'
import type { Pair, RateQuery, RateType } from '../../domain/swap.ts'
import { type AssetName, assetIn, assetNameOf, from, type Side, to } from '../assets/asset-naming.ts'
import type { SteadyClock } from '../clock.ts'
import type { ProviderScope } from '../provider-scope.ts'

const lifetimeMs = 60_000
const maxPairs = 10_000
/** Of the quotes that are asked for: they are about the pair, and a refusal for the amount says as much. */
const amountIn = toAmount('1') as Amount
const rateTypes: readonly RateType[] = ['float', 'fixed']

/**
 * Asks for three quotes for an amount of 1: both rate types, and the opposite direction at `float`. What they say serves every caller with
 * the same settings for a minute, unless one has failed, a quote is for its caller alone, or the provider depends on the caller
 * (`isByCaller` with `weighted`, or one has chosen it). Throws the refusal of a pair that cannot be, and the failure where nothing is known
 * of it (`test/forms/pairs.test.ts`).
 */
export function describePair(
  service: SwapService,
  table: AssetTable,
  scopes: readonly ProviderScope[],
  isByCaller: boolean,
  clock: SteadyClock,
): (pair: Pair, context: Context) => Promise<PairDescription> {
  const isPersonal = scopes.some((scope) => rateTypes.some((rateType) => scope.isPersonal({ amountIn, rateType })))
  const known = new BoundedMap<Described>({ share: cacheShares.quotes, maxEntries: maxPairs, lifetimeMs })
  return (pair, context) => {
    if (isPersonal || isByCaller || context.pick !== undefined) return describe(pair, context, service, table)
    const { codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo } = pair
    const terms = scopes.map(({ quoteTermsOf }) => quoteTermsOf(context.caller))
    const key = JSON.stringify([codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo, ...terms])
    const now = clock()
    const current = known.get(key, now)
    if (current && now - current.at < lifetimeMs) return current.description
    const description = describe(pair, context, service, table)
    const entry = known.set(key, { description, at: now }, now)
    const forget = (): void => {
      if (known.get(key, now) === entry) known.delete(key)
    }
    description.then(({ body, lacksAnswer }) => (body.isOffered === undefined || lacksAnswer) && forget(), forget)
    return description
  }
}

interface Described {
  readonly description: Promise<PairDescription>
  readonly at: number
}

interface PairDescription extends Answer<'describePair'> {
  /** Whether a quote had no answer of its provider, so that another one is to be asked for. */
  readonly lacksAnswer: boolean
}

async function describe(pair: Pair, context: Context, service: SwapService, table: AssetTable): Promise<PairDescription> {
  const quote = (query: Pair, rateType: RateType) => findingOf({ ...query, amountIn, rateType }, context, service)
  const reversing = quote(reversed(pair), 'float').catch(() => undefined)
  const findings = await Promise.all([quote(pair, 'float'), quote(pair, 'fixed')])
  const reverse = await reversing
  const every = reverse ? [...findings, reverse] : findings
  const names = findings.find((finding) => finding.names)?.names ?? pair
  const [source, target] = [assetOf(names, from, table), assetOf(names, to, table)]
  const [sourceName, targetName] = [askedName(source, names, from), askedName(target, names, to)]
  const failure = findings.find(({ fault }) => fault)?.fault
  const unknown = findings.filter(({ isOffered }) => isOffered === undefined)
  if (failure && unknown.length === findings.length && !(source && target)) throw failure
  const offered = findings.filter(({ isOffered }) => isOffered)
  const isRefused = findings.every(({ isOffered }) => isOffered === false)
  const providers = providersOf(findings)
  return {
    body: {
      codeFrom: sourceName.code,
      coinFrom: sourceName.coin,
      networkFrom: source?.network ?? names.networkFrom,
      decimalsFrom: source?.decimals,
      needsMemoFrom: source && mayNeedMemo(source),
      addressPatternFrom: source?.address && addressPattern(source.address),
      codeTo: targetName.code,
      coinTo: targetName.coin,
      networkTo: target?.network ?? names.networkTo,
      decimalsTo: target?.decimals,
      needsMemoTo: target && mayNeedMemo(target),
      addressPatternTo: target?.address && addressPattern(target.address),
      isOffered: offered.length > 0 || (isRefused ? false : undefined),
      isReverseOffered: reverse?.isOffered,
      rateTypes: offered.map(({ terms }) => terms),
    },
    ...(providers.length === 1 && { provider: providers[0] }),
    sources: providersOf(every),
    ...(unknown.length > 0 && { omitted: ['rateType'] }),
    lacksAnswer: every.some(({ fault }) => fault && fault.kind !== 'invalid'),
  }
}

function providersOf(findings: readonly Finding[]): readonly string[] {
  return [...new Set(findings.flatMap(({ provider }) => (provider === undefined ? [] : [provider])))]
}

function assetOf(names: Pair, side: Side, table: AssetTable): Asset | undefined {
  const { code, coin, network } = assetNameOf(names, side)
  const named = code === undefined && network === undefined ? table.coin(coin ?? '') : undefined
  return named ? defaultAsset(named) : assetIn(names, side, table)
}

function askedName(asset: Asset | undefined, names: Pair, side: Side): AssetName {
  const asked = assetNameOf(names, side)
  return asset ? spellingOf(asset, asked) : asked
}

interface Finding {
  readonly terms: OfferedRateType
  /** Undefined: it is not known. */
  readonly isOffered: boolean | undefined
  readonly names?: Pair
  readonly provider?: string | undefined
  /** Why it is not known. */
  readonly fault?: Fault
}

/** Reasons of a refusal for the amount, which is none of the pair. */
const aboutAmount: ReadonlySet<Reason> = new Set<Reason>(['below_minimum', 'above_maximum'])

/** Throws `invalid` for a pair that no quote can be for. */
async function findingOf(query: RateQuery, context: Context, service: SwapService): Promise<Finding> {
  const { rateType } = query
  try {
    const { body, provider } = await service.call('getRate', query, context)
    const { minAmount, maxAmount } = body
    return { terms: { rateType, minAmount, maxAmount }, isOffered: true, names: body, provider }
  } catch (reason) {
    const fault = Fault.from(reason)
    const { kind, amountRange, field, provider } = fault
    if (kind !== 'invalid' || fault.reason === 'refused') return { terms: { rateType }, isOffered: undefined, fault }
    if (field === 'amountIn' || aboutAmount.has(fault.reason)) {
      const { minAmount, maxAmount } = amountRange ?? {}
      return { terms: { rateType, minAmount, maxAmount }, isOffered: true, provider }
    }
    if (fault.reason === 'not_offered' || field === 'rateType') return { terms: { rateType }, isOffered: false }
    throw fault
  }
}

function reversed({ codeFrom, coinFrom, networkFrom, codeTo, coinTo, networkTo }: Pair): Pair {
  return { codeFrom: codeTo, coinFrom: coinTo, networkFrom: networkTo, codeTo: codeFrom, coinTo: coinFrom, networkTo: networkFrom }
}
