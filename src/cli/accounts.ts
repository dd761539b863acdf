/** `swapgate accounts`: the accounts, and limits of their own (docs/contract.md §7, docs/contract-operators.md §13). */
import type { Command } from 'commander'
import type { LimitChanges } from '../core/access/authentication.ts'
import {
  accountNameRule,
  accountRow,
  limitRule,
  maxLimit,
  newAccountNameRule,
  noOwnLimits,
  toAccountName,
  toNewAccountName,
} from '../core/operations/keys.ts'
import { accountLimitNames } from '../domain/key-access.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { changing, refuse, type Terminal } from './terminal.ts'
import { configOption, formatTable, jsonOption, type Options, parsedBy } from './values.ts'

const asName = parsedBy(toAccountName, accountNameRule)
const asNewName = parsedBy(toNewAccountName, newAccountNameRule)
const asLimit = parsedBy((text) => (/^[1-9]\d{0,6}$/.test(text) && Number(text) <= maxLimit ? Number(text) : undefined), limitRule)

type SetOptions = Options & LimitChanges

type Row = ReturnType<typeof accountRow>

export function addAccounts(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const accounts = program.command('accounts').description('list accounts, and give them limits of their own')
  accounts
    .command('list')
    .description('list all accounts with their limits, by name')
    .option(...configOption)
    .option(...jsonOption)
    .action(async (options: Options) => end(await withLedger(options, terminal, (session) => list(options, session))))
  accounts
    .command('show')
    .description('show one account')
    .argument('<account>', 'its name', asName)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (name: string, options: Options) =>
      end(await withLedger(options, terminal, (session) => show(name, options, session))),
    )
  accounts
    .command('set')
    .description('set limits of an account, in place of those of the configuration; the account is made if its name is new')
    .argument('<account>', 'its name', asNewName)
    .option('--quotes <number>', `quotes in a window: ${limitRule}`, asLimit)
    .option('--create <number>', `creates in a window: ${limitRule}`, asLimit)
    .option('--read <number>', `reads in a window: ${limitRule}`, asLimit)
    .option('--streams <number>', `streams at a time: ${limitRule}`, asLimit)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (name: string, { quotes, create, read, streams, ...options }: SetOptions, command: Command) => {
      const limits = { quotes, create, read, streams }
      if (Object.values(limits).every((limit) => limit === undefined))
        command.error('error: name at least one of --quotes, --create, --read and --streams', { exitCode: 2 })
      end(await withLedger(options, terminal, (session) => set(name, limits, options, changing(session)), 'write'))
    })
  accounts
    .command('reset')
    .description('take the limits of an account back: those of the configuration hold again')
    .argument('<account>', 'its name', asName)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (name: string, options: Options) =>
      end(await withLedger(options, terminal, (session) => reset(name, options, changing(session)), 'write')),
    )
}

async function list({ json }: Options, session: Session): Promise<ExitCode> {
  print((await session.stores.accounts.listAccounts(Date.now())).map(accountRow), json, session)
  return 0
}

async function show(name: string, { json }: Options, session: Session): Promise<ExitCode> {
  const [account] = await session.stores.accounts.listAccounts(Date.now(), name)
  if (!account) return refuse(`no account has the name ${name}`, session.terminal)
  const row = accountRow(account)
  if (json) session.terminal.out(JSON.stringify(row))
  else print([row], json, session)
  return 0
}

async function set(name: string, limits: LimitChanges, options: Options, session: Session): Promise<ExitCode> {
  await session.stores.accounts.changeLimits(name, limits, Date.now(), session.actor)
  return await show(name, options, session)
}

async function reset(name: string, options: Options, session: Session): Promise<ExitCode> {
  const { accounts } = session.stores
  if ((await accounts.listAccounts(Date.now(), name)).length === 0)
    return refuse(`no account has the name ${name}`, session.terminal)
  await accounts.changeLimits(name, noOwnLimits, Date.now(), session.actor)
  return await show(name, options, session)
}

function print(rows: readonly Row[], isJson = false, { config, terminal }: Session): void {
  if (isJson) {
    terminal.out(JSON.stringify(rows))
    return
  }
  const cells = rows.map(({ name, keys, validKeys, limits }) => [
    name,
    `${validKeys} of ${keys}`,
    ...accountLimitNames.map((of) => `${limits[of] ?? `(${config.limits[of]})`}`),
  ])
  for (const line of formatTable([['account', 'valid keys', ...accountLimitNames], ...cells])) terminal.out(line)
  terminal.out(`Requests in ${config.limits.window} s, streams at a time; in brackets: as configured.`)
}
