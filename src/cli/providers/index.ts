/** `swapgate providers`: shows, compares and switches providers (docs/contract.md §12). */
import type { Command } from 'commander'
import { isPublicAddress } from '../../domain/network-address.ts'
import { configOption, jsonOption, type Options, parsedBy } from '../option.ts'
import { type ExitCode, type Session, withLedger } from '../session.ts'
import type { Terminal } from '../terminal.ts'
import { type ChangeFlags, printRouting } from './change.ts'
import { addSwitching, forceOption } from './commands.ts'
import { type DiffOptions, printDiff } from './diff.ts'
import { type ShadowSetting, toShadow } from './settings.ts'
import { printShadow } from './shadow.ts'
import { printStatus } from './status.ts'
import { printTrial, type TrialOptions } from './try.ts'

const asPairs = parsedBy((text) => (/^\d{1,3}$/.test(text) ? Number(text) : undefined), 'a number from 0 to 999')
const asAddress = parsedBy((text) => (isPublicAddress(text) ? text : undefined), 'a public IP address')
const asShadow = parsedBy(toShadow, 'like beta=0.1, or off')

export function addProviders(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const providers = program.command('providers').description('show, compare and switch providers')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, work))
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
    .action((name: string, options: TrialOptions) => run(options, (session) => printTrial(name, options, session)))
  add('shadow', 'show the deviations that the shadow of all running gateways measured; or set the shadow')
    .argument('[setting]', 'a provider and its share of the quotes, like beta=0.1, or off', asShadow)
    .option(...forceOption)
    .action((setting: ShadowSetting | undefined, options: ChangeFlags) =>
      run(options, (session) => (setting ? printRouting(setting, options, session) : printShadow(options, session))),
    )
  addSwitching(add, run)
}
