/** `swapgate providers`: shows, compares and switches providers (docs/contract-operators.md §12). */
import { type Command, Option } from 'commander'
import {
  type MirrorFigures,
  mirrorFigures,
  type ProviderStatus,
  providerStatus,
  type StatusReport,
} from '../../core/operations/provider-status.ts'
import { isPublicAddress } from '../../domain/network-address.ts'
import { type ExitCode, type Session, withLedger } from '../session.ts'
import { changing, type Terminal } from '../terminal.ts'
import { configOption, formatPercent, formatTable, jsonOption, type Options, parsedBy } from '../values.ts'
import { addSwitching, type ChangeFlags, forceOption, type MirrorSetting, printRouting, toMirror } from './change.ts'
import { type DiffOptions, printDiff } from './diff.ts'
import { printTrial, type TrialOptions } from './try.ts'

const asPairs = parsedBy((text) => (/^\d{1,3}$/.test(text) ? Number(text) : undefined), 'a number from 0 to 999')
const asAddress = parsedBy((text) => (isPublicAddress(text) ? text : undefined), 'a public IP address')
const asMirror = parsedBy(toMirror, 'like beta=0.1, or off')

export function addProviders(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const providers = program.command('providers').description('show, compare and switch providers')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, work))
  const change = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, (session) => work(changing(session)), 'write'))
  const add = (usage: string, description: string): Command =>
    providers
      .command(usage)
      .description(description)
      .option(...configOption)
      .option(...jsonOption)
  add('status', 'show every provider: state, weight, share, errors, budget, open transactions').action((options: Options) =>
    run(options, (session) => printStatus(options, session)),
  )
  add(
    'diff <first> <second>',
    'compare the assets, limits and quotes of two providers; exit code 1 if the second lacks an asset of the first',
  )
    .option('--pairs <number>', 'the number of pairs to quote at both', asPairs, 20)
    .action((first: string, second: string, options: DiffOptions) =>
      run(options, (session) => printDiff([first, second], options, session)),
    )
  add(
    'try <name>',
    'ask a provider for its list, quotes and transactions, never for a create, and show what works and what differs from its form; exit code 1 if something fails',
  )
    .option('--address <address>', 'your public address, for a provider that quotes only with the address of a client', asAddress)
    .option(
      '--strict',
      'also ask for less than the minimum, by the amount received, memo coins and statuses; exit code 1 for any deviation',
    )
    .addOption(new Option('--markdown', 'print a report as Markdown').conflicts('json'))
    .action((name: string, options: TrialOptions) => run(options, (session) => printTrial(name, options, session)))
  add('mirror', 'show the deviations that the mirror of all running gateways measured; or set the mirror')
    .alias('shadow')
    .argument('[setting]', 'a provider and its share of the quotes, like beta=0.1, or off', asMirror)
    .option(...forceOption)
    .action((setting: MirrorSetting | undefined, options: ChangeFlags) =>
      setting
        ? change(options, (session) => printRouting(setting, options, session))
        : run(options, (session) => printMirror(options, session)),
    )
  addSwitching(add, change)
}

// `swapgate providers status`: prints the current status of every provider (docs/contract-operators.md §12).

async function printStatus({ json = false }: Options, { config, stores, terminal }: Session): Promise<ExitCode> {
  const report = await providerStatus(config, stores)
  if (json) terminal.out(JSON.stringify(report))
  else for (const line of statusLines(report)) terminal.out(line)
  return 0
}

function statusLines({ strategy, mirror, overrides, replicas, oldestSeconds, providers }: StatusReport): readonly string[] {
  const running =
    replicas === 0 ? 'no gateway is running' : `${replicas} ${replicas === 1 ? 'replica' : 'replicas'}, oldest ${oldestSeconds} s`
  return [
    `Strategy ${strategy}; ${running}.`,
    ...formatTable([
      [
        'provider',
        'state',
        'weight',
        'share',
        'p95',
        'failed',
        'breaker',
        'budget left',
        'refused, counted',
        'off its quotes',
        'open',
        'unknown creates',
      ],
      ...providers.map(rowOf),
    ]),
    ...providers.flatMap(({ name, suspended }) =>
      suspended.map(({ kind, asset, network, since, until }) => {
        const where = network === null ? asset : `${asset} (network ${network})`
        return `Suspended at ${name}: ${where}, since ${since}, until ${until}: three mismatches in a row of ${kind}.`
      }),
    ),
    ...providers.flatMap(({ name, live }) => {
      const causes = Object.entries(live?.causes ?? {}).map(([cause, count]) => `${cause} ${count}`)
      return causes.length === 0 ? [] : [`Failed at ${name} in the last minute: ${causes.join(', ')}.`]
    }),
    ...providers.flatMap(settingLines),
    ...(mirror ? [`Mirror: ${mirror.provider} also gets ${mirror.sample * 100} % of the quotes.`] : []),
    ...overrides.map(({ key, value, actor, since, isAsleep }) => {
      const effect = isAsleep ? ' It has no effect with this file.' : ''
      return `Override: ${key} is ${textOf(value)} since ${since}, by ${actor}.${effect}`
    }),
  ]
}

/** What the operator earns there, and from which account something else. */
function settingLines({ name, settings, accountSettings = {} }: ProviderStatus): readonly string[] {
  const textOf = (own: object): string =>
    Object.entries(own)
      .map(([setting, value]) => `${setting} ${value || 'none'}`)
      .join(', ')
  return [
    ...(settings ? [`Settings of ${name}: ${textOf(settings)}.`] : []),
    ...Object.entries(accountSettings).map(([account, own]) => `Settings of ${name} for ${account}: ${textOf(own)}.`),
  ]
}

function rowOf({ name, form, state, isRouted, weight, live, openTransactions, pendingCreates, unknownCreates }: ProviderStatus) {
  const left = Object.entries(live?.budgetLeft ?? {}).map(([policy, calls]) => `${policy} ${calls ?? 'unbounded'}`)
  const breakers = Object.entries(live?.breaker ?? {}).map(([operation, breaker]) => `${operation} ${breaker}`)
  return [
    form === null ? `${name} (not in the file)` : isRouted ? name : `${name} (not routed)`,
    state,
    weight === null ? '-' : String(weight),
    live ? formatPercent(live.share).replace('+', '') : '-',
    live?.latencyMs.p95 == null ? '-' : `${live.latencyMs.p95} ms`,
    live ? `${live.failedCalls} of ${live.calls}` : '-',
    live ? breakers.join(', ') || 'closed' : '-',
    left.join(', ') || '-',
    live ? `${live.judgements.refused}, ${live.judgements.counted}` : '-',
    formatPercent(live?.quoteDeviation ?? null),
    String(openTransactions + pendingCreates),
    String(unknownCreates),
  ]
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

// `swapgate providers mirror` without a setting: prints the results of the mirror so far (docs/contract-operators.md §12).

async function printMirror({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const replicas = await stores.replicaFigures.read()
  const counts = replicas.flatMap(({ mirror }) => mirror ?? [])
  const reports = [...new Set(counts.map(({ provider }) => provider))].flatMap((provider) => mirrorFigures(provider, counts) ?? [])
  if (json) terminal.out(JSON.stringify({ replicas: replicas.length, mirrors: reports, shadows: reports }))
  else if (reports.length === 0) terminal.out('No running gateway has a mirror.')
  else for (const line of reports.flatMap(mirrorLines)) terminal.out(line)
  return 0
}

function mirrorLines({ provider, errors, missingPairs, missingAssets, pairs, ...all }: MirrorFigures): readonly string[] {
  const rows = [{ from: 'all', to: 'pairs', ...all }, ...pairs].map(({ from, to, samples, medianDeviation, p95Deviation }) => [
    `${from} to ${to}`,
    String(samples),
    formatPercent(medianDeviation),
    formatPercent(p95Deviation),
  ])
  const missing = missingPairs.map(({ from, to }) => `${from} to ${to}`)
  return [
    ...formatTable([[`at ${provider}`, 'samples', 'median', 'p95'], ...rows]),
    `Failed quotes: ${errors}.`,
    `Quoted pairs that ${provider} does not offer: ${missing.join(', ') || 'none'}.`,
    `Assets of the routed providers that ${provider} does not list: ${missingAssets.join(', ') || 'none'}.`,
  ]
}
