import type { ChangeResult, OperationPorts, Refusal } from '../../core/operations/change.ts'
import { changeRouting, changeState, type RoutingChange, resetOverrides, routingReport } from '../../core/operations/change.ts'
import type { ProviderStatus } from '../../core/operations/provider-status.ts'
import type { ProviderState } from '../../domain/service.ts'
import { currentStatus } from '../../process/in-force.ts'
import type { Options } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { refuse } from '../terminal.ts'

export interface ChangeFlags extends Options {
  readonly force?: boolean
}

const follows = 'Every running gateway applies this within 5 s.'

/** Changes the state of a provider and returns its new status. If the change is refused: prints why and returns undefined. */
export async function setState(
  provider: string,
  state: ProviderState,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ProviderStatus | undefined> {
  const { config, stores, actor } = session
  const result = await changeState(portsOf(session), { provider, state, force, actor })
  if (result.outcome === 'done') {
    const { providers } = await currentStatus(config, stores)
    return providers.find(({ name }) => name === provider)
  }
  printRefusal(result, json, session)
  return undefined
}

export async function printState(
  provider: string,
  state: ProviderState,
  options: ChangeFlags,
  session: Session,
): Promise<ExitCode> {
  const status = await setState(provider, state, options, session)
  if (!status) return 1
  if (options.json) session.terminal.out(JSON.stringify(status))
  else for (const line of describeState(status, session)) session.terminal.out(line)
  return 0
}

export function describeState(status: ProviderStatus, { config }: Session): readonly string[] {
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

export function openOf({ openTransactions, pendingCreates, unknownCreates }: ProviderStatus): number {
  return openTransactions + pendingCreates + unknownCreates
}

/** Changes the weights or the shadow and prints the result. */
export async function printRouting(
  change: Pick<RoutingChange, 'weights' | 'shadow'>,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ExitCode> {
  return await printRoutingResult(await changeRouting(portsOf(session), { ...change, force, actor: session.actor }), json, session)
}

/** Removes the overrides of a provider, of `weights`, of `shadow`, or all: the configuration file applies again. */
export async function printReset(
  name: string | undefined,
  { force = false, json = false }: ChangeFlags,
  session: Session,
): Promise<ExitCode> {
  return await printRoutingResult(await resetOverrides(portsOf(session), { name, force, actor: session.actor }), json, session)
}

async function printRoutingResult(result: ChangeResult, isJson: boolean, session: Session): Promise<ExitCode> {
  if (result.outcome !== 'done') return printRefusal(result, isJson, session)
  const { config, stores, terminal } = session
  const report = routingReport(await currentStatus(config, stores), config)
  const { states, weights, shadow } = report.inForce
  const { out } = terminal
  if (isJson) {
    out(JSON.stringify(report))
    return 0
  }
  out(`states: ${textOf(Object.entries(states))}`)
  if (weights) out(`weights: ${textOf(Object.entries(weights))}`)
  out(`shadow: ${shadow ? `${shadow.provider}=${shadow.sample}` : 'off'}`)
  out(follows)
  return 0
}

function textOf(entries: readonly (readonly [string, unknown])[]): string {
  return entries.map(([name, value]) => `${name}=${value}`).join(' ')
}

function portsOf({ config, stores }: Session): OperationPorts {
  return { file: config, overrides: stores.overrides, ledgerAdmin: stores.ledgerAdmin }
}

export function printRefusal(refusal: Refusal, isJson = false, { terminal }: Session): 1 {
  if (isJson) terminal.out(JSON.stringify(refusal))
  const hint = refusal.outcome === 'needsForce' ? ' (--force does it anyway)' : ''
  return refuse(`${refusal.message}${hint}`, terminal)
}
