/**
 * `swapgate keys`: issues, lists, finds, rotates and revokes the keys of accounts (docs/contract.md §5, docs/contract-operators.md §13). A
 * rotated key that is lost after its output was tried is told as done, with exit code 1.
 */
import type { Command } from 'commander'
import { hashKey } from '../adapters/crypto.ts'
import type { IssuedKey } from '../core/access/authentication.ts'
import { durations, toDuration } from '../core/operations/duration.ts'
import {
  findIssuedKey,
  issueKey,
  type KeyPorts,
  keyRow,
  keyState,
  type NewKey,
  networksRule,
  newAccountNameRule,
  newKeyRow,
  rotateKey,
  scopeRule,
  toNetworks,
  toNewAccountName,
} from '../core/operations/keys.ts'
import { toIso } from '../domain/instant.ts'
import { type KeyScope, parseScope } from '../domain/key-access.ts'
import { networkKeysWarning } from '../process/warnings.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { changing, printSecretFirst, readSecret, refuse, type Terminal } from './terminal.ts'
import { configOption, formatTable, jsonOption, listParsedBy, type Options, parsedBy } from './values.ts'

const asName = parsedBy(toNewAccountName, newAccountNameRule)
const asOverlap = parsedBy(toDuration, durations)
const asScope = listParsedBy(parseScope, scopeRule)
const asNetworks = listParsedBy(toNetworks, networksRule)
const asLifetime = parsedBy((text) => toDuration(text) || undefined, `above 0, ${durations}`)

interface AccessOptions extends Options {
  readonly expires?: number
  readonly scope?: readonly KeyScope[]
  readonly allow?: readonly string[]
}

interface CreateOptions extends AccessOptions {
  readonly name: string
}

interface RotateOptions extends AccessOptions {
  readonly overlap?: number
}

export function addKeys(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const keys = program.command('keys').description('issue, list, find, rotate and revoke keys of accounts')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, work))
  const expires = ['--expires <duration>', `how long the key is valid, ${durations} (default: no expiry)`, asLifetime] as const
  keys
    .command('create')
    .description('issue a key; it is shown only once')
    .requiredOption('--name <account>', 'the account of the key; created if it does not exist', asName)
    .option(...expires)
    .option('--scope <words>', `what the key may do: ${scopeRule} (default: all)`, asScope)
    .option('--allow <networks>', `from where the key is valid: ${networksRule} (default: everywhere)`, asNetworks)
    .option(...configOption)
    .option(...jsonOption)
    .action(async (options: CreateOptions) =>
      end(await withLedger(options, terminal, (session) => create(options, session), 'write')),
    )
  keys
    .command('list')
    .description('list all keys, oldest first, without the secrets')
    .option(...configOption)
    .option(...jsonOption)
    .action((options: Options) => run(options, (session) => list(options, session)))
  keys
    .command('find')
    .description('read a key from the input and print its id and account; exit code 1 if it is none of this ledger')
    .option(...configOption)
    .option(...jsonOption)
    .action((options: Options) => run(options, (session) => find(options, session)))
  keys
    .command('revoke <id>')
    .description('revoke a key now; this cannot be undone')
    .option(...configOption)
    .action((id: string, options: Options) => run(options, (session) => revoke(id, changing(session))))
  keys
    .command('rotate <id>')
    .description('issue a new key to the same account; the old key expires after the overlap')
    .option('--overlap <duration>', `how long the old key stays valid, ${durations} (default: 24h)`, asOverlap)
    .option(...expires)
    .option('--scope <words>', `what the new key may do: ${scopeRule} (default: as the old key)`, asScope)
    .option('--allow <networks>', `from where the new key is valid: ${networksRule} (default: as the old key)`, asNetworks)
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: RotateOptions) => run(options, (session) => rotate(id, options, session)))
}

async function create({ name, json, ...access }: CreateOptions, session: Session): Promise<ExitCode> {
  const issued = await issueKey(portsOf(session), name, settingsOf(access))
  if (await printKey(issued, json, session)) {
    session.terminal.note(`the key ${issued.id} of ${name} is issued, and was written`)
    return 0
  }
  const { stores, terminal, actor } = session
  const isRevoked = await stores.accounts.revokeKey(issued.id, Date.now(), actor).catch(() => false)
  const end = isRevoked ? 'it is revoked' : `it could not be revoked either: swapgate keys revoke ${issued.id}`
  return refuse(`the key ${issued.id} of ${name} could not be written: ${end}`, terminal)
}

async function list({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const issued = await stores.accounts.listKeys()
  const now = Date.now()
  if (json) {
    terminal.out(JSON.stringify(issued.map((key) => keyRow(key, now))))
    return 0
  }
  for (const line of formatTable([columns, ...issued.map((key) => cellsOf(key, now))])) terminal.out(line)
  return 0
}

const columns = ['id', 'account', 'key', 'scope', 'networks', 'state', 'created', 'last used', 'ends']

function cellsOf(key: IssuedKey, now: number): readonly string[] {
  const { id, name, hint, scope = ['all'], networks = ['all'], createdAt, lastUsedAt } = key
  const access = [hint === undefined ? '-' : `…${hint}`, scope.join(','), networks.join(',')]
  return [id, name, ...access, keyState(key, now), toIso(createdAt), toIso(lastUsedAt) ?? '-', endOf(key)]
}

async function find({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const text = await readSecret(terminal, 'key:')
  const found = await findIssuedKey({ accounts: stores.accounts, digest: hashKey }, text)
  if (!found) return refuse('this is no key of this ledger', terminal)
  const now = Date.now()
  if (json) terminal.out(JSON.stringify(keyRow(found, now)))
  else for (const line of formatTable([columns, cellsOf(found, now)])) terminal.out(line)
  return 0
}

async function revoke(id: string, { stores, terminal, actor }: Session): Promise<ExitCode> {
  if (!(await stores.accounts.revokeKey(id, Date.now(), actor)))
    return refuse(`no key has the id ${id}, or it is already revoked`, terminal)
  terminal.out(`The key ${id} is revoked.`)
  return 0
}

async function rotate(id: string, { overlap, json, ...access }: RotateOptions, session: Session): Promise<ExitCode> {
  const { stores, terminal } = session
  const old = await stores.accounts.readKey(id)
  if (!old || keyState(old, Date.now()) !== 'active') return refuse(`no valid key has the id ${id}`, terminal)
  if (!(await terminal.canWrite(json ? '{' : keyLabel)))
    return refuse(`the output cannot be written: the key ${id} is not rotated`, terminal)
  const rotated = await rotateKey(portsOf(session), id, { ...settingsOf(access), overlapMs: overlap })
  if (!rotated) return refuse(`no valid key has the id ${id}`, terminal)
  const { issued, oldExpiresAt } = rotated
  const isRotated = `the key ${id} is rotated, and ends at ${toIso(oldExpiresAt)}`
  if (!(await printKey(issued, json, session)))
    return refuse(`${isRotated}; the new one could not be written: swapgate keys revoke ${issued.id}`, terminal)
  terminal.note(`${isRotated}; the new one was written`)
  if (!json) terminal.out(`The old key ${id} ends at ${toIso(oldExpiresAt)}.`)
  return 0
}

function settingsOf({ expires, scope, allow }: AccessOptions) {
  return { lifetimeMs: expires, scope, networks: allow }
}

function portsOf({ stores: { accounts }, actor }: Session): KeyPorts {
  return { accounts, digest: hashKey, actor }
}

const keyLabel = 'key'

/** Whether the line with the key itself was written. */
async function printKey(issued: NewKey, isJson = false, { config, terminal }: Session): Promise<boolean> {
  if (config.auth.mode !== 'managed') {
    terminal.err(`warning: auth.mode is ${config.auth.mode}: the gateway accepts issued keys only if it is managed`)
  }
  if (issued.networks && config.server.trustProxy === 0) terminal.err(`warning: ${networkKeysWarning}`)
  const facts = { [keyLabel]: issued.key, id: issued.id, account: issued.name, ends: endOf(issued) }
  const [secret = '', ...rest] = isJson
    ? [JSON.stringify(newKeyRow(issued))]
    : [...formatTable(Object.entries(facts)), 'The key is not shown again: its SHA-256 and its last four characters are stored.']
  return await printSecretFirst(secret, rest, terminal)
}

function endOf({ expiresAt, revokedAt }: IssuedKey): string {
  return toIso(revokedAt ?? expiresAt) ?? 'never'
}
