/** commander: the commands of `swapgate providers` that change something. */
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
  'also if no provider is left for new swaps, or open transactions are not read any more',
] as const

/** `add`: a command with what all of them take. */
export function addSwitching(add: (usage: string, description: string) => Command, run: Run): void {
  add('drain <name>', 'send no quotes and no creates there; its transactions are still read')
    .option(...forceOption)
    .option('--wait', 'wait until none of its transactions is open')
    .option('--timeout <duration>', `the longest wait, ${durations} (default: 24h)`, asTimeout)
    .action((name: string, options: DrainFlags, command: Command) => {
      if (options.timeout !== undefined && !options.wait) command.error('error: --timeout goes with --wait')
      return run(options, (session) => drain(name, options, session))
    })
  add('activate <name>', 'send quotes and creates there again')
    .option(...forceOption)
    .action((name: string, options: ChangeFlags) => run(options, (session) => printState(name, 'active', options, session)))
  add('off <name>', 'never call it; its transactions are answered from the ledger')
    .option(...forceOption)
    .action((name: string, options: ChangeFlags) => run(options, (session) => printState(name, 'off', options, session)))
  add('weights <weight...>', `change the shares of clients: ${pairs}`)
    .option(...forceOption)
    .action((words: readonly string[], options: ChangeFlags, command: Command) => {
      const weights = toWeights(words) ?? command.error(`error: it takes ${pairs}`)
      return run(options, (session) => printRouting({ weights }, options, session))
    })
  add('reset [name]', 'go by the configuration file again: for a provider, for weights or shadow, or for everything')
    .option(...forceOption)
    .action((name: string | undefined, options: ChangeFlags) => run(options, (session) => printReset(name, options, session)))
}
