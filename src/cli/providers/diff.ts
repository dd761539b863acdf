/** `swapgate providers diff`: compares what two providers offer before a switch (docs/contract-operators.md §12). */

import { translateAssets } from '../../core/assets/translate-assets.ts'
import { compose, deadline } from '../../core/layer.ts'
import {
  type AssetDiff,
  type ComparedProvider,
  type OwnCoin,
  type ProviderDiff,
  providerDiff,
} from '../../core/operations/provider-diff.ts'
import { Fault } from '../../domain/fault.ts'
import { gatewayContext } from '../../domain/service.ts'
import { connectProviders, freshLists, providerNames } from '../../process/ask-providers.ts'
import type { ConnectedProvider } from '../../provider/connected-provider.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import { formatPercent, formatTable, type Options } from '../values.ts'

export interface DiffOptions extends Options {
  readonly pairs: number
}

/** Prints the comparison. Returns 1 if clients would lose an asset or get another one, or if one provider cannot be read. */
export async function printDiff(
  [first, second]: readonly [first: string, second: string],
  { pairs, json = false }: DiffOptions,
  { config, terminal }: Session,
): Promise<ExitCode> {
  const [one, other] = [first, second].map((name) => config.providers.find((provider) => provider.name === name))
  if (!one || !other) return refuse(`no such provider; the configuration has ${providerNames(config)}`, terminal)
  await using open = new AsyncDisposableStack()
  const connect = await connectProviders(config, freshLists, open)
  const compared: ComparedProvider[] = []
  for (const provider of [one, other]) {
    try {
      compared.push(await comparedProvider(connect(provider)))
    } catch (reason) {
      return refuse(`the list of ${provider.name} cannot be read: ${Fault.from(reason).message}`, terminal)
    }
  }
  const [a, b] = compared as [ComparedProvider, ComparedProvider]
  const capabilities = connect(one).upstream.capabilities
  const diff = await providerDiff({ first: a, second: b, pairs, contextOf: () => gatewayContext(capabilities) })
  if (json) terminal.out(JSON.stringify({ firstProvider: first, secondProvider: second, ...diff }))
  else for (const line of describe(first, second, diff)) terminal.out(line)
  const { onlyFirst, contracts, outsideTable } = diff
  return [onlyFirst, contracts, outsideTable.onlyFirst, outsideTable.different].some(({ length }) => length > 0) ? 1 : 0
}

async function comparedProvider({ currencyList, service, upstream }: ConnectedProvider): Promise<ComparedProvider> {
  const { capabilities, timeoutMs } = upstream
  const list = await currencyList.read(gatewayContext(capabilities))
  return { list, service: compose([deadline(timeoutMs), translateAssets(currencyList, true)], service) }
}

function describe(
  first: string,
  second: string,
  { onlyFirst, onlySecond, limits, contracts, outsideTable, quotes, medianDeviation }: ProviderDiff,
): readonly string[] {
  const quoted = quotes.filter(({ outcome }) => outcome === 'compared')
  const rows = quotes.map(({ from, to, amount, outcome, first: a, second: b, deviation, errors }) => [
    `${amount} ${from} to ${to}`,
    a ?? '-',
    b ?? '-',
    outcome === 'notOffered' ? 'not offered' : outcome === 'notCompared' ? 'not compared' : formatPercent(deviation),
    ...errors.slice(0, 1),
  ])
  return [
    assetLine(`Only ${first} lists`, onlyFirst),
    assetLine(`Only ${second} lists`, onlySecond),
    ...ownCoinLines(`Outside of the table only ${first} lists`, outsideTable.onlyFirst),
    ...ownCoinLines(`Outside of the table only ${second} lists`, outsideTable.onlySecond),
    ...outsideTable.different.map(
      ({ code, first: a, second: b }) => `${code}: ${ownCoins(a)} at ${first}, ${ownCoins(b)} at ${second}`,
    ),
    ...limits.map(
      ({ code, first: a, second: b }) =>
        `${code}: deposits from ${a.depositMin ?? '-'} to ${a.depositMax ?? '-'} at ${first}, from ${b.depositMin ?? '-'} to ${b.depositMax ?? '-'} at ${second}`,
    ),
    ...contracts.map(
      ({ code, first: a, second: b }) => `${code}: the token ${shortened(a)} at ${first}, ${shortened(b)} at ${second}`,
    ),
    ...formatTable([['pair', first, second, 'deviation'], ...rows]),
    `Compared ${quoted.length} of ${quotes.length} pairs, median deviation ${formatPercent(medianDeviation)}.`,
  ]
}

function ownCoinLines(what: string, coins: readonly OwnCoin[]): readonly string[] {
  if (coins.length === 0) return []
  return [`${what}: ${coins.map(({ code, network }) => shortened(network === null ? code : `${code} on ${network}`)).join(', ')}.`]
}

function ownCoins(coins: readonly OwnCoin[]): string {
  return coins.map(({ network, name, contract }) => shortened([name, network, contract].filter(Boolean).join(' '))).join(' and ')
}

/** A provider's text may be long. */
function shortened(text: string | null): string {
  return text?.slice(0, 128) ?? '-'
}

function assetLine(what: string, assets: readonly AssetDiff[]): string {
  return `${what}: ${assets.length === 0 ? 'none' : assets.map(({ code }) => code).join(', ')}.`
}
