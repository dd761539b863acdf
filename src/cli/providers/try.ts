/** `swapgate providers try`: calls a provider as the gateway would, before clients are routed to it (docs/contract.md §16). */

import type { Provider } from '../../config/index.ts'
import { sharedDeposits } from '../../core/assets/deposits.ts'
import { translateAssets } from '../../core/assets/translate-assets.ts'
import { compose, deadline } from '../../core/layer.ts'
import { type StrictlyTried, tryStrictly } from '../../core/operations/strict-trial.ts'
import {
  type DeviationCount,
  type Observed,
  type TrialCheck,
  type TrialCheckName,
  TrialObserver,
  tryProvider,
} from '../../core/operations/trial.ts'
import type { StatusCount } from '../../core/ports/ledger-admin.ts'
import { printable } from '../../domain/printable.ts'
import { gatewayContext, type Op } from '../../domain/service.ts'
import { providerFormNamed } from '../../forms/index.ts'
import { connectProviders, freshLists, providerNames } from '../../process/ask-providers.ts'
import type { ConnectedProvider } from '../../provider/connected-provider.ts'
import { carriesAddress } from '../../wire/provider-form.ts'
import type { StatusMeaning } from '../../wire/table.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import type { Options } from '../values.ts'

/** As `providers try --json` prints it. */
export interface TrialReport {
  readonly provider: string
  readonly form: string
  /** Whether no check failed. Deviations from the form are failures only with `--strict`. */
  readonly works: boolean
  readonly checks: readonly ObservedCheck[]
}

type ObservedCheck = TrialCheck & Observed

export interface TrialOptions extends Options {
  /** For quotes that carry the address of a client. */
  readonly address?: string
  readonly strict?: boolean
  readonly markdown?: boolean
}

/** Prints each check as soon as it is made, but for a document. Returns 1 if one fails, with `strict` also if a response deviates from the form. */
export async function printTrial(name: string, options: TrialOptions, session: Session): Promise<ExitCode> {
  const { json = false, markdown = false, strict = false, address = '' } = options
  const { config, stores, terminal } = session
  const provider = config.providers.find((candidate) => candidate.name === name)
  if (!provider) return refuse(`no such provider; the configuration has ${providerNames(config)}`, terminal)
  await using open = new AsyncDisposableStack()
  const observer = new TrialObserver()
  const connect = await connectProviders(config, freshLists, open, observer.observe)
  const recorded = strict
    ? (await stores.ledgerAdmin.stats(Date.now())).entries.filter((entry) => entry.provider === provider.tag)
    : []
  const tried = triedProvider(connect(provider), provider, address, recorded)
  const isPlain = !json && !markdown
  const title = `${name} (form ${providerFormNamed(provider.form).name}) at ${new URL(provider.url).origin}`
  if (isPlain) terminal.out(title)
  const checks: ObservedCheck[] = []
  for await (const check of strict ? tryStrictly(tried) : tryProvider(tried)) {
    const observed = { ...check, ...observer.take() }
    checks.push(observed)
    if (isPlain) for (const line of describe(observed, strict ? 14 : 11)) terminal.out(line)
  }
  const failed = checks.filter(({ outcome }) => outcome === 'fails').length
  const deviates = strict && checks.some(({ deviations }) => deviations.length > 0)
  const works = failed === 0 && !deviates
  const report: TrialReport = { provider: name, form: providerFormNamed(provider.form).name, works, checks }
  if (markdown) for (const line of markdownLines(title, report, failed)) terminal.out(line)
  else terminal.out(json ? JSON.stringify(report) : conclusion(report, failed))
  return works ? 0 : 1
}

function triedProvider(
  connected: ConnectedProvider,
  provider: Provider,
  address: string,
  recorded: readonly StatusCount[],
): StrictlyTried {
  const { currencyList, service } = connected
  const { capabilities, timeoutMs } = connected.upstream
  const named = providerFormNamed(provider.form)
  const form = (provider.amountTo && named.withReceivedAmounts?.()) || named
  const bounded = compose([deadline(timeoutMs)], service)
  return {
    currencyList,
    service: bounded,
    translated: compose([translateAssets(currencyList, true)], bounded),
    sharedDeposits: sharedDeposits(provider.depositMemo, currencyList),
    acceptsMemos: provider.extraIds !== false,
    mustNameNetworks: provider.networks === 'confirmed',
    hasKey: provider.key !== '',
    has: (op, rateType) => form.operation(op, rateType) !== undefined,
    needsKey: (op) => form.keyed.has(op),
    isQuotedFirst: (rateType) => form.quotedFirst.has(rateType),
    lacksAddress: (rateType) => address === '' && carriesAddress(form, 'getRate', rateType),
    contextOf: () => ({ ...gatewayContext(capabilities), caller: { address } }),
    quotesReceived: (rateType) => form.operation('getRate', rateType, 'received') !== undefined,
    mayHideMinimum: form.refusal.mayHideAmountRange ?? false,
    recorded,
    words: wordsByStatus(form.statuses),
    pageSize: capabilities.pageSize,
  }
}

function wordsByStatus(statuses: ReadonlyMap<string, StatusMeaning>): ReadonlyMap<string, readonly string[]> {
  const pairs = [...statuses].flatMap(([word, meaning]) => meaningsOf(meaning).map((status) => ({ status, word })))
  const byStatus = Map.groupBy(pairs, ({ status }) => status)
  return new Map([...byStatus].map(([status, own]) => [status, [...new Set(own.map(({ word }) => word))]]))
}

function meaningsOf(meaning: StatusMeaning): readonly string[] {
  if (typeof meaning === 'string') return [meaning]
  const { present, words = {}, otherwise } = meaning
  return [...(present === undefined ? [] : [present]), ...Object.values(words), otherwise]
}

/** `width`: of the names of checks. */
function describe({ check, outcome, message, status, cause, deviations }: ObservedCheck, width: number): readonly string[] {
  const name = check.padEnd(width)
  const facts = [status !== undefined && `status ${status}`, cause !== undefined && `cause ${cause}`].filter(Boolean)
  const shown = outcome === 'fails' && facts.length > 0 ? ` (${facts.join(', ')})` : ''
  return [
    line(outcome, name, `${message}${shown}`),
    ...deviations.map((deviation) => line('differs', name, deviationText(deviation))),
  ]
}

function line(outcome: string, check: string, text: string): string {
  return `${outcome.padEnd(7)}  ${check}  ${text}`
}

const deviationTexts: Readonly<Record<DeviationCount['drift'], string>> = {
  unknownField: 'the form does not have it',
  numberAsText: 'a number as text',
  textAsNumber: 'a text as number',
  unknownStatus: 'a status that the form does not have',
  badRow: 'a row is not of the form: it is dropped',
  contradictingNetwork: 'a network that contradicts the table: the row is dropped',
  implausible: 'a value that cannot be right: it is left out',
  excessDecimals: 'more decimals than the table has: shown as they are',
  contradictingContract: 'a contract that contradicts the table: the row is dropped',
  ambiguousName: 'a name of several assets',
  unreadable: 'not of the form',
}

function deviationText({ field, name, drift, count }: DeviationCount): string {
  return `${name ?? field}: ${deviationTexts[drift]}${count > 1 ? ` (${count} times)` : ''}`
}

function conclusion({ provider, checks }: TrialReport, failed: number): string {
  const deviations = checks.reduce((sum, check) => sum + check.deviations.length, 0)
  const drift = deviations > 0 ? ` Deviations from the form: ${deviations}.` : ''
  return `${failed === 0 ? `Everything works at ${provider}.` : `${failed} of ${checks.length} checks failed.`}${drift}`
}

// `--markdown`: a page for an issue or the summary of a nightly job.

const operationOf: Readonly<Partial<Record<TrialCheckName, Op>>> = {
  currencies: 'listCurrencies',
  'float quote': 'getRate',
  'fixed quote': 'getRate',
  'float received': 'getRate',
  'fixed received': 'getRate',
  'float minimum': 'getRate',
  'fixed minimum': 'getRate',
  'memo coins': 'getRate',
  list: 'listTransactions',
  statuses: 'listTransactions',
  'unknown id': 'getTransaction',
  gets: 'getTransaction',
}

function markdownLines(title: string, report: TrialReport, failed: number): readonly string[] {
  const deviations = report.checks.flatMap(({ check, deviations: own }) => own.map((deviation) => ({ check, deviation })))
  return [
    `# ${cell(title)}`,
    '',
    ...markdownTable(
      ['Check', 'Operation', 'Outcome', 'What was seen', 'Deviations'],
      report.checks.map(({ check, outcome, message, deviations: own }) => [
        check,
        operationOf[check] ?? '',
        outcome,
        message,
        String(own.reduce((sum, { count }) => sum + count, 0)),
      ]),
    ),
    ...(deviations.length === 0
      ? []
      : markdownTable(
          ['Check', 'Field', 'Deviation', 'Times'],
          deviations.map(({ check, deviation: { field, name, drift, count } }) => [
            check,
            name ?? field,
            deviationTexts[drift],
            String(count),
          ]),
        )),
    cell(conclusion(report, failed)),
  ]
}

function markdownTable(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  return [header, header.map(() => '---'), ...rows.map((cells) => cells.map(cell))]
    .map((cells) => `| ${cells.join(' | ')} |`)
    .concat('')
}

const plainText = /^(?!.*(?:www\.|:\/\/))[a-z\d ,;:.()"'+%/-]*$/i

/** One line. What could be markup, a link or a mention is a span of code. */
function cell(text: string): string {
  const line = printable(text)
  if (plainText.test(line)) return line
  return `\`${line.replaceAll('`', "'").replaceAll('|', String.raw`\|`)}\``
}
