/** commander: the subcommands of `swapgate providers` that change state. */
import type { Command } from 'commander'
import { toDuration } from '../duration.ts'
import { durations, parsedBy } from '../option.ts'
import type { ExitCode, Session } from '../session.ts'
import { type ChangeFlags, printReset, printRouting, printState } from './change.ts'
import { type DrainFlags, drain } from './drain.ts'
import { toWeights } from './settings.ts'

export type Run = (options: ChangeFlags, work: (session: Session) => Promise<ExitCode>) => Promise<void>

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
    'remove the overrides of a provider, of weights or shadow, or all: the configuration file applies again, and suspended assets are offered again',
  )
    .option(...forceOption)
    .action((name: string | undefined, options: ChangeFlags) => run(options, (session) => printReset(name, options, session)))
}
