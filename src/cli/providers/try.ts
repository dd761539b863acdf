/** `swapgate providers try`: calls a provider as the gateway would, before clients are routed to it (docs/contract.md §16). */

import type { Provider } from '../../config/index.ts'
import { sharedDeposits } from '../../core/assets/deposits.ts'
import { translateAssets } from '../../core/assets/translate-assets.ts'
import { compose, deadline } from '../../core/layer.ts'
import {
  type DeviationCount,
  type Observed,
  type TrialCheck,
  TrialObserver,
  type TriedProvider,
  tryProvider,
} from '../../core/operations/trial.ts'
import { gatewayContext } from '../../domain/service.ts'
import { providerFormNamed } from '../../forms/index.ts'
import { connectProviders, freshLists, providerNames } from '../../process/ask-providers.ts'
import type { ConnectedProvider } from '../../provider/connected-provider.ts'
import { carriesAddress } from '../../wire/provider-form.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import type { Options } from '../values.ts'

/** As `providers try --json` prints it. */
export interface TrialReport {
  readonly provider: string
  readonly form: string
  /** Whether no check failed. Deviations from the form are no failures. */
  readonly works: boolean
  readonly checks: readonly ObservedCheck[]
}

type ObservedCheck = TrialCheck & Observed

export interface TrialOptions extends Options {
  /** For quotes that carry the address of a client. */
  readonly address?: string
}

/** Prints each check as soon as it is made. Returns 1 if one fails. */
export async function printTrial(name: string, { json = false, address = '' }: TrialOptions, session: Session): Promise<ExitCode> {
  const { config, terminal } = session
  const provider = config.providers.find((candidate) => candidate.name === name)
  if (!provider) return refuse(`no such provider; the configuration has ${providerNames(config)}`, terminal)
  await using open = new AsyncDisposableStack()
  const observer = new TrialObserver()
  const connect = await connectProviders(config, freshLists, open, observer.observe)
  const checks: ObservedCheck[] = []
  if (!json) terminal.out(`${name} (form ${providerFormNamed(provider.form).name}) at ${new URL(provider.url).origin}`)
  for await (const check of tryProvider(triedProvider(connect(provider), provider, address))) {
    const observed = { ...check, ...observer.take() }
    checks.push(observed)
    if (!json) for (const line of describe(observed)) terminal.out(line)
  }
  const failed = checks.filter(({ outcome }) => outcome === 'fails').length
  const report: TrialReport = { provider: name, form: providerFormNamed(provider.form).name, works: failed === 0, checks }
  terminal.out(json ? JSON.stringify(report) : conclusion(report, failed))
  return failed === 0 ? 0 : 1
}

function triedProvider(connected: ConnectedProvider, provider: Provider, address: string): TriedProvider {
  const { currencyList, service } = connected
  const { capabilities, timeoutMs } = connected.upstream
  const form = providerFormNamed(provider.form)
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
  }
}

function describe({ check, outcome, message, status, cause, deviations }: ObservedCheck): readonly string[] {
  const facts = [status !== undefined && `status ${status}`, cause !== undefined && `cause ${cause}`].filter(Boolean)
  const shown = outcome === 'fails' && facts.length > 0 ? ` (${facts.join(', ')})` : ''
  return [
    line(outcome, check, `${message}${shown}`),
    ...deviations.map((deviation) => line('differs', check, deviationText(deviation))),
  ]
}

function line(outcome: string, check: string, text: string): string {
  return `${outcome.padEnd(7)}  ${check.padEnd(11)}  ${text}`
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
