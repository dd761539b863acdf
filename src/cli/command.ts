/** commander: the command line, its help and its usage errors. */
import { Command, CommanderError, Option } from 'commander'
import { configFile } from '../config/index.ts'
import { version } from '../process/version.ts'
import { addAccounts } from './accounts.ts'
import { addAssets } from './assets.ts'
import { addAudit } from './audit.ts'
import { addInit } from './init.ts'
import { addKeys } from './keys.ts'
import { addLedger } from './ledger.ts'
import { addProviders } from './providers/index.ts'
import { eachLine, guarded, type Streams, type Terminal } from './terminal.ts'
import { addTransactions } from './transactions.ts'
import { addUsage } from './usage.ts'
import { configOption, jsonOption, type Options, parsedBy } from './values.ts'
import { addWebhooks } from './webhooks.ts'

const portIn = (text: string): string | undefined => (/^\d{1,5}$/.test(text) && Number(text) <= 65_535 ? text : undefined)
const asPort = parsedBy(portIn, 'a port from 0 to 65535')

/** Its providers are called there: a free one would be known too late. */
const asSandboxPort = parsedBy((text) => (text === '0' ? undefined : portIn(text)), 'a port from 1 to 65535')

interface StartFlags {
  readonly port?: string
  readonly adminPort?: string
  readonly sandboxPort?: string
}

interface CheckFlags {
  readonly diff?: string | true
  readonly live?: boolean
}

/** Runs a command. Returns the exit code: 0 success, 1 refused, faults found or output lost, 2 wrong usage. */
export async function run(args: readonly string[], streams: Streams): Promise<number> {
  const terminal = guarded(streams)
  let exitCode = 0
  let isGateway = false
  const end = (code: number): void => {
    exitCode = code
  }
  const program = programFor(terminal)
  program
    .command('start')
    .description('run the gateway until SIGTERM or SIGINT; a second one ends it at once')
    .option('--port <port>', 'public port, in place of server.port; 0 takes a free one and prints it', asPort)
    .option('--admin-port <port>', 'port for operators, in place of admin.port', asPort)
    .option(
      '--sandbox-port <port>',
      'port of the sandbox, in place of sandbox.port, also in the URLs of its providers',
      asSandboxPort,
    )
    .option(...configOption)
    .action(async ({ config, port, adminPort, sandboxPort }: Options & StartFlags) => {
      const { start } = await import('./start.ts')
      isGateway = true // its output is no result
      end(await start(configFile(config), { server: port, admin: adminPort, sandbox: sandboxPort }, terminal))
    })
  program
    .command('check')
    .description('validate the configuration and list every error, without starting')
    .option(
      '--diff [file]',
      'print what a reload would change in this file, and what needs a restart; no file: in the running gateway',
    )
    .addOption(new Option('--live', 'open the ledger too, and ask whether it takes creates; it is left as it is').conflicts('diff'))
    .option(...configOption)
    .option(...jsonOption)
    .action(async ({ config, json = false, diff, live = false }: Options & CheckFlags) => {
      const { check, printDiff } = await import('./check.ts')
      const file = configFile(config)
      end(await (diff === undefined ? check(file, { json, live }, terminal) : printDiff(diff, file, { json }, terminal)))
    })
  addInit(program, terminal, end)
  addKeys(program, terminal, end)
  addAccounts(program, terminal, end)
  addUsage(program, terminal, end)
  addWebhooks(program, terminal, end)
  addLedger(program, terminal, end)
  addTransactions(program, terminal, end)
  addProviders(program, terminal, end)
  addAssets(program, terminal, end)
  addAudit(program, terminal, end)
  refuseRepeats(program)
  try {
    await program.parseAsync(args, { from: 'user' })
  } catch (reason) {
    if (!(reason instanceof CommanderError)) throw reason
    return await terminal.ended(reason.exitCode === 0 ? 0 : 2)
  }
  return isGateway ? exitCode : await terminal.ended(exitCode)
}

/** An option that is given twice is wrong usage, unless its values are a list: commander takes the last one. */
function refuseRepeats(command: Command): void {
  const given = new Set<string>()
  for (const option of command.options) {
    const name = option.attributeName()
    command.on(`option:${option.name()}`, () => {
      if (given.has(name) && typeof command.getOptionValue(name) !== 'object')
        command.error(`error: option '${option.flags}' is given twice, or with its opposite`)
      given.add(name)
    })
  }
  command.commands.forEach(refuseRepeats)
}

/** A line of commander's own after an error: what the argument may have meant. */
const hint = /\n(?=\()/

const exitCodes = `
Exit codes: 0 done, 1 refused, faults found or output lost, 2 wrong usage.
Each command has its own help: swapgate start --help`

function programFor({ out, err }: Terminal): Command {
  return new Command('swapgate')
    .description('One stable API for crypto swaps over several providers')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => eachLine(text, out),
      writeErr: (text) => eachLine(text, err),
      outputError: (text) => eachLine(text, err, hint),
    })
    .addHelpText('after', exitCodes)
    .showHelpAfterError('(see swapgate --help)')
}
