/** `swapgate assets`: compares a provider's currency list with the asset table (docs/contract.md §16). */
import { setTimeout as wait } from 'node:timers/promises'
import type { Command } from 'commander'
import { unclearLine, wordsIn } from '../core/assets/provider-rows.ts'
import { compose, deadline } from '../core/layer.ts'
import {
  type AssetCheck,
  type Contradiction,
  checkAssets,
  type Double,
  type OtherWord,
  type TableName,
} from '../core/operations/asset-check.ts'
import { CurrencyReading } from '../core/quotes/read-currency-list.ts'
import { Fault } from '../domain/fault.ts'
import { gatewayContext, type SwapService } from '../domain/service.ts'
import type { Currency } from '../domain/swap.ts'
import { connectProviders, freshLists, providerNames } from '../process/ask-providers.ts'
import { upcomingChanges } from '../process/warnings.ts'
import type { ConnectedProvider } from '../provider/connected-provider.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { refuse, type Terminal } from './terminal.ts'
import { configOption, jsonOption, type Options } from './values.ts'

export function addAssets(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  program
    .command('assets')
    .description('compare the asset table with a provider')
    .command('check <provider>')
    .description(
      "compare the provider's currency list with the asset table: what only one of them has, and what contradicts; " +
        'exit code 1 if something contradicts or one word means several assets',
    )
    .option(...configOption)
    .option(...jsonOption)
    .action(async (name: string, options: Options) =>
      end(await withLedger(options, terminal, (session) => printCheck(name, options, session))),
    )
}

async function printCheck(name: string, { json }: Options, { config, terminal }: Session): Promise<ExitCode> {
  const provider = config.providers.find((each) => each.name === name)
  if (!provider) return refuse(`no such provider; the configuration has ${providerNames(config)}`, terminal)
  await using open = new AsyncDisposableStack()
  const connected = (await connectProviders(config, freshLists, open))(provider)
  let rows: readonly Currency[]
  try {
    rows = await readList(connected, terminal)
  } catch (reason) {
    return refuse(`the list of ${name} cannot be read: ${Fault.from(reason).message}`, terminal)
  }
  const check = await checkAssets(rows, connected.currencyList.naming)
  if (json) terminal.out(JSON.stringify({ provider: name, ...check }))
  else for (const line of [...describe(name, check), ...upcomingChanges(config.assets, Date.now())]) terminal.out(line)
  const unclear = (check.doubles ?? []).filter(({ chosen }) => !chosen)
  return check.contradictions.length + check.collisions.length + unclear.length > 0 ? 1 : 0
}

/** A list takes that long if it has many pages and the budget is small. */
const maxReadMs = 600_000
const maxPauseMs = 60_000

/** Reads the whole list. If the budget or the provider requires a pause, it waits and continues where it stopped. */
async function readList(provider: ConnectedProvider, { err }: Terminal): Promise<readonly Currency[]> {
  const { name } = provider
  const { capabilities, timeoutMs } = provider.upstream
  const service = withProgress(compose([deadline(timeoutMs)], provider.service), name, err)
  const reading = new CurrencyReading(capabilities.pageSize)
  const endsAt = performance.now() + maxReadMs
  for (;;) {
    try {
      return (await reading.finish(service, gatewayContext(capabilities))).rows
    } catch (reason) {
      const { kind, retryAfter = 0 } = Fault.from(reason)
      const pauseMs = Math.max(1, retryAfter) * 1000
      const isInterrupted = (kind === 'unavailable' || kind === 'limited') && reading.hasRows
      if (!isInterrupted || pauseMs > maxPauseMs || performance.now() + pauseMs > endsAt) throw reason
      err(`swapgate: waiting ${pauseMs / 1000} s before the next page of ${name}`)
      await wait(pauseMs)
    }
  }
}

/** A line of progress for each further page of a long list. */
function withProgress(service: SwapService, name: string, err: Terminal['err']): SwapService {
  return {
    async call(op, request, context) {
      if ('page' in request && request.page > 1) err(`swapgate: reading page ${request.page} of the list of ${name}`)
      return await service.call(op, request, context)
    },
  }
}

function describe(
  name: string,
  { rows, matched, contradictions, collisions, otherWords = [], doubles = [], unknown, missing }: AssetCheck,
): readonly string[] {
  return [
    `${name} lists ${rows} rows. ${matched} assets of the table are among them.`,
    ...contradictions.map(describeContradiction),
    ...collisions.map(({ listed, table }) => `Has two meanings: ${wordsIn(listed)}; in the table ${assetsOf(table)}.`),
    ...doubles.map((double) => describeDouble(name, double)),
    ...otherWords.map(describeOtherWord),
    `Only in the list: ${unknown.length === 0 ? 'none' : unknown.map(wordsIn).join(', ')}.`,
    `Only in the table: ${missing.length === 0 ? 'none' : missing.map(({ code }) => code).join(', ')}.`,
  ]
}

function describeDouble(name: string, double: Double): string {
  const { table, listed, chosen } = double
  if (!chosen) return `Two rows are one asset: providers.${name} ${unclearLine(table, listed)}.`
  return `Two rows are one asset: ${listed.map(wordsIn).join(', ')}; in the table ${assetsOf([table])}. It is asked for as ${wordsIn(chosen)}.`
}

function describeOtherWord({ by, listed, table }: OtherWord): string {
  const why = by === 'also' ? 'another name of the coin' : 'by its contract'
  return `By another word: ${wordsIn(listed)} is ${assetsOf([table])}, ${why}.`
}

function describeContradiction({ what, listed, table }: Contradiction): string {
  const row = `Contradicts the table: ${wordsIn(listed)}`
  if (what === 'memo') return `${row} may need a memo, and the table has none for ${assetsOf(table)}.`
  if (what === 'network') return `${row}; in the table ${assetsOf(table)}.`
  if (what === 'name')
    return `${row} has the contract ${(listed.contract ?? '').slice(0, 128)}, which is that of another asset there; in the table ${assetsOf(table)} has that name. It is not offered.`
  const contracts = table.map(({ contract }) => contract ?? 'another').join(', ')
  return `${row} is the token ${(listed.contract ?? '').slice(0, 128)}; in the table ${assetsOf(table)} is ${contracts}. It is not offered.`
}

function assetsOf(table: readonly TableName[]): string {
  return table.map(({ code, coin, network }) => `${code} (${coin} on ${network})`).join(', ')
}
