import type { Command } from 'commander'
import { configFile, loadConfig } from '../../config/index.ts'
import {
  type ChangeResult,
  changeRouting,
  changeState,
  type OperationPorts,
  openAt,
  type Refusal,
  type RoutingChange,
  resetOverrides,
  routingReport,
} from '../../core/operations/change.ts'
import { type DrainProgress, type DrainResult, untilDrained } from '../../core/operations/drain.ts'
import { durations, toDuration } from '../../core/operations/duration.ts'
import { type ProviderStatus, providerStatus } from '../../core/operations/provider-status.ts'
import { inForce } from '../../core/operations/settings.ts'
import type { Mirror } from '../../domain/routing-settings.ts'
import type { ProviderState } from '../../domain/service.ts'
import { knownForms } from '../../forms/index.ts'
import { type ExitCode, messageOf, type Session } from '../session.ts'
import { refuse } from '../terminal.ts'
import { type Options, parsedBy } from '../values.ts'

export interface ChangeFlags extends Options {
  readonly force?: boolean
}

const follows = 'Every running gateway applies this within 5 s.'

/** Changes the state of a provider and returns its new status. If the change is refused: prints why and returns undefined. */
async function setState(
  provider: string,
  state: ProviderState,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ProviderStatus | undefined> {
  const { config, stores, actor } = session
  const result = await changeState(portsOf(session), provider, state, { force, actor })
  if (result.outcome === 'done') {
    const { providers } = await providerStatus(config, stores)
    return providers.find(({ name }) => name === provider)
  }
  printRefusal(result, json, session)
  return undefined
}

async function printState(provider: string, state: ProviderState, options: ChangeFlags, session: Session): Promise<ExitCode> {
  const status = await setState(provider, state, options, session)
  if (!status) return 1
  if (options.json) session.terminal.out(JSON.stringify(status))
  else for (const line of describeState(status, session)) session.terminal.out(line)
  return 0
}

function describeState(status: ProviderStatus, { config }: Session): readonly string[] {
  const { name, state } = status
  const fileState = config.providers.find((provider) => provider.name === name)?.state
  const file = state === fileState ? 'as in the configuration file' : `but ${fileState} in the configuration file`
  const isPassthrough = config.auth.mode === 'passthrough'
  return [
    `${name} is ${state}, ${file}.`,
    `${openOf(status)} open there.`,
    ...(isPassthrough ? ['This counts transactions as clients last read them: the gateway has no key to read them itself.'] : []),
    follows,
  ]
}

function openOf({ openTransactions, pendingCreates, unknownCreates }: ProviderStatus): number {
  return openTransactions + pendingCreates + unknownCreates
}

/** Changes the weights or the mirror and prints the result. */
export async function printRouting(
  change: RoutingChange,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ExitCode> {
  const { actor } = session
  return await printRoutingResult(await changeRouting(portsOf(session), change, { force, actor }), json, session)
}

/** Removes the overrides of a provider, of `weights`, of `mirror`, or all: the configuration file applies again. */
async function printReset(
  name: string | undefined,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ExitCode> {
  const { actor } = session
  return await printRoutingResult(await resetOverrides(portsOf(session), name, { force, actor }), json, session)
}

async function printRoutingResult(result: ChangeResult, isJson: boolean, session: Session): Promise<ExitCode> {
  if (result.outcome !== 'done') return printRefusal(result, isJson, session)
  const { config, stores, terminal } = session
  const report = routingReport(await providerStatus(config, stores), config)
  const { states, weights, mirror } = report.inForce
  const { out } = terminal
  if (isJson) {
    out(JSON.stringify(report))
    return 0
  }
  out(`states: ${textOf(Object.entries(states))}`)
  if (weights) out(`weights: ${textOf(Object.entries(weights))}`)
  out(`mirror: ${mirror ? `${mirror.provider}=${mirror.sample}` : 'off'}`)
  out(follows)
  return 0
}

function textOf(entries: readonly (readonly [string, unknown])[]): string {
  return entries.map(([name, value]) => `${name}=${value}`).join(' ')
}

function portsOf({ config, stores }: Session): OperationPorts {
  return { file: config, overrides: stores.overrides, ledgerAdmin: stores.ledgerAdmin }
}

function printRefusal(refusal: Refusal, isJson = false, { terminal }: Session): 1 {
  if (isJson) terminal.out(JSON.stringify(refusal))
  const hint = refusal.outcome === 'needsForce' ? ' (--force does it anyway)' : ''
  return refuse(`${refusal.message}${hint}`, terminal)
}

interface DrainFlags extends ChangeFlags {
  readonly wait?: boolean
  /** Milliseconds. */
  readonly timeout?: number
}

const dayMs = 86_400_000
const waitRefusal = {
  outcome: 'invalid',
  message: '--wait needs auth.mode managed: in passthrough mode the ledger only has transactions as clients last read them',
} as const

async function drain(name: string, { wait = false, timeout = dayMs, ...options }: DrainFlags, session: Session): Promise<ExitCode> {
  if (!wait) return printState(name, 'draining', options, session)
  const { config, terminal } = session
  if (config.auth.mode === 'passthrough') return printRefusal(waitRefusal, options.json, session)
  const status = await setState(name, 'draining', options, session)
  if (!status) return 1
  const { json = false } = options
  if (!json) for (const line of describeState(status, session)) terminal.out(line)
  const print = json ? terminal.err : terminal.out
  const result = await untilDrained({
    open: openOf(status),
    timeoutMs: timeout,
    read: () => readProgress(status, session, options.config),
    report: (found) => print(describeProgress(name, found)),
  })
  if (json) terminal.out(JSON.stringify({ ...status, wait: result }))
  return printEnd(name, result, session)
}

function printEnd(name: string, { outcome, open }: DrainResult, { terminal }: Session): ExitCode {
  if (outcome === 'drained') return 0
  const why = outcome === 'inUse' ? `${name} accepts new swaps again` : `timed out with ${open} open at ${name}`
  return refuse(why, terminal)
}

async function readProgress(
  { name, tag }: Pick<ProviderStatus, 'name' | 'tag'>,
  { stores }: Session,
  config: string | undefined,
): Promise<DrainProgress> {
  try {
    // The file may have changed since the last read.
    const file = loadConfig(configFile(config), knownForms)
    const { providers } = inForce(file, await stores.overrides.read()).settings
    const open = openAt(await stores.ledgerAdmin.openCounts(), tag)
    return { state: providers.find((provider) => provider.name === name)?.state, open }
  } catch (reason) {
    return { failure: messageOf(reason) }
  }
}

function describeProgress(name: string, found: DrainProgress): string {
  if ('open' in found) return `${found.open} open at ${name}`
  return `the open transactions of ${name} cannot be counted; retrying: ${found.failure}`
}

// commander: the subcommands of `swapgate providers` that change state.

type Run = (options: ChangeFlags, work: (session: Session) => Promise<ExitCode>) => Promise<void>

const asTimeout = parsedBy((text) => toDuration(text) || undefined, `above 0, ${durations}`)
const pairs = 'a weight for each routed provider, like alpha=90 beta=10'
export const forceOption = [
  '--force',
  'even if no provider remains for new swaps, or open transactions are no longer read',
] as const

/** `add` creates a command with the options that all of them share. */
export function addSwitching(add: (usage: string, description: string) => Command, run: Run): void {
  add('drain <name>', 'stop quotes and creates at a provider; its transactions are still read')
    .option(...forceOption)
    .option('--wait', 'wait until no transaction is open')
    .option('--timeout <duration>', `the maximum wait, ${durations} (default: 24h)`, asTimeout)
    .action((name: string, options: DrainFlags, command: Command) => {
      if (options.timeout !== undefined && !options.wait) command.error('error: --timeout requires --wait')
      return run(options, (session) => drain(name, options, session))
    })
  add('activate <name>', 'allow quotes and creates at a provider again')
    .option(...forceOption)
    .action((name: string, options: ChangeFlags) => run(options, (session) => printState(name, 'active', options, session)))
  add('off <name>', 'stop all calls to a provider; its transactions are served from the ledger')
    .option(...forceOption)
    .action((name: string, options: ChangeFlags) => run(options, (session) => printState(name, 'off', options, session)))
  add('weights <weight...>', `change the weights: ${pairs}`)
    .option(...forceOption)
    .action((args: readonly string[], options: ChangeFlags, command: Command) => {
      const weights = toWeights(args) ?? command.error(`error: give ${pairs}`)
      return run(options, (session) => printRouting({ weights }, options, session))
    })
  add(
    'reset [name]',
    'remove the overrides of a provider, of weights or mirror, or all: the configuration file applies again, and suspended assets are offered again',
  )
    .option(...forceOption)
    .action((name: string | undefined, options: ChangeFlags) => run(options, (session) => printReset(name, options, session)))
}

const pair = /^(.+)=(-?(?:0|[1-9]\d*)(?:\.\d+)?)$/s

/** Parses arguments like `alpha=90`, each name once. Undefined if one is malformed or repeated. */
function toWeights(args: readonly string[]): Readonly<Record<string, number>> | undefined {
  const weights = args.map((arg) => pair.exec(arg)).map((match) => match && ([match[1] ?? '', Number(match[2])] as const))
  if (!weights.every((entry) => entry !== null)) return undefined
  const byName = new Map(weights)
  return byName.size === args.length ? Object.fromEntries(byName) : undefined
}

export interface MirrorSetting {
  /** Null: no mirror. */
  readonly mirror: Mirror | null
}

/** Parses `beta=0.1` or `off`. Undefined if the text is neither. */
export function toMirror(text: string): MirrorSetting | undefined {
  if (text === 'off') return { mirror: null }
  const [, provider, sample] = pair.exec(text) ?? []
  return provider === undefined ? undefined : { mirror: { provider, sample: Number(sample) } }
}
