import { hostname, userInfo } from 'node:os'
import { type Config, ConfigError, configFile, faultLines, loadConfig } from '../config/index.ts'
import type { StoreTrouble } from '../domain/store-trouble.ts'
import { knownForms } from '../forms/index.ts'
import type { openLedger } from '../ledger/index.ts'
import { fileWarnings } from '../process/warnings.ts'
import { refuse, type Terminal } from './terminal.ts'
import type { Options } from './values.ts'

export type ExitCode = 0 | 1

type Stores = Awaited<ReturnType<typeof openLedger>>

/** Everything that a command needs. */
export interface Session {
  readonly stores: Stores
  readonly config: Config
  readonly terminal: Terminal
  /** The actor for the audit log. */
  readonly actor: string
}

/**
 * What a command may do to the ledger. `read` and `write` leave its schema as it is; where there is none, `read` shows an empty one
 * `write` makes it, unless `ledger.migrate` is manual, and `change` refuses.
 */
type Access = 'read' | 'write' | 'change' | 'migrate'

/** Opens the configuration and its ledger and runs `work`. If one cannot be opened: prints why to `err` and returns 1. */
export async function withLedger(
  options: Options,
  terminal: Terminal,
  work: (session: Session) => Promise<ExitCode>,
  access: Access = 'read',
): Promise<ExitCode> {
  return await withConfig(options, terminal, async (config) => {
    const { openLedger } = await import('../ledger/index.ts')
    const { url, mustExist, migrate } = config.ledger
    const isRefused = access === 'change' || (access === 'write' && migrate === 'manual')
    const whenMissing = access === 'read' ? 'show empty' : isRefused ? 'refuse' : 'make'
    // A command ends with why it failed; only what it waits for is told before.
    const onTrouble = access === 'migrate' ? ({ message }: StoreTrouble): void => terminal.err(`swapgate: ${message}`) : () => {}
    // What a command reads takes turns, as in a gateway: it leaves connections to others. Nobody counts those that it is refused.
    const onTurnRefused = (): void => {}
    const stores = await openLedger(url, { mustExist, whenMissing, mayMigrate: access === 'migrate', onTrouble, onTurnRefused })
    try {
      return await work({ stores, config, terminal, actor: cliActor() })
    } catch (reason) {
      return refuse(`the command failed: ${messageOf(reason)}`, terminal)
    } finally {
      await stores.close()
    }
  })
}

/** Opens the configuration alone and runs `work`. If it has faults, or `work` throws: prints why to `err` and returns 1. */
export async function withConfig<Code extends number>(
  options: Options,
  terminal: Terminal,
  work: (config: Config) => Promise<Code>,
): Promise<Code | 1> {
  try {
    const file = configFile(options.config)
    for (const warning of fileWarnings(file)) terminal.err(`swapgate: ${warning}`)
    return await work(loadConfig(file, knownForms))
  } catch (reason) {
    if (!(reason instanceof ConfigError)) return refuse(messageOf(reason), terminal)
    for (const line of faultLines(configFile(options.config), reason.faults)) terminal.err(line)
    return 1
  }
}

/** The first line of the error message. */
export function messageOf(reason: unknown): string {
  const [line = ''] = String(reason instanceof Error ? reason.message : reason).split('\n')
  return line
}

/** The actor of this command in the audit log: `cli:<system user>@<host>`. */
function cliActor(): string {
  return `cli:${userName()}@${hostname()}`
}

/** The name of the system's user, or its number if it has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
