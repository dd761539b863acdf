/** `swapgate keys`: issues, lists, rotates and revokes the keys of accounts (docs/contract.md §5, §13). */
import type { Command } from 'commander'
import { hashKey } from '../adapters/crypto.ts'
import type { IssuedKey } from '../core/access/authentication.ts'
import { keyBytes, makeKey } from '../domain/key.ts'
import { type ExitCode, type Session, withLedger } from './session.ts'
import { refuse, type Terminal } from './terminal.ts'
import { configOption, durations, formatTable, jsonOption, type Options, parsedBy, toDuration, toIso } from './values.ts'

const namePattern = /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}(?<! )$/u
const dayMs = 86_400_000

const asName = parsedBy((text) => (namePattern.test(text) ? text.normalize() : undefined), '1 to 64 printable characters')
const asOverlap = parsedBy(toDuration, durations)
const asLifetime = parsedBy((text) => toDuration(text) || undefined, `above 0, ${durations}`)

interface CreateOptions extends Options {
  readonly name: string
  readonly expires?: number
}

interface RotateOptions extends Options {
  readonly overlap?: number
  readonly expires?: number
}

export function addKeys(program: Command, terminal: Terminal, end: (exitCode: ExitCode) => void): void {
  const keys = program.command('keys').description('issue, list, rotate and revoke keys of accounts')
  const run = async (options: Options, work: (session: Session) => Promise<ExitCode>): Promise<void> =>
    end(await withLedger(options, terminal, work))
  const expires = ['--expires <duration>', `how long the key is valid, ${durations} (default: no expiry)`, asLifetime] as const
  keys
    .command('create')
    .description('issue a key; it is shown only once')
    .requiredOption('--name <account>', 'the account of the key; created if it does not exist', asName)
    .option(...expires)
    .option(...configOption)
    .option(...jsonOption)
    .action((options: CreateOptions) => run(options, (session) => create(options, session)))
  keys
    .command('list')
    .description('list all keys, oldest first, without the secrets')
    .option(...configOption)
    .option(...jsonOption)
    .action((options: Options) => run(options, (session) => list(options, session)))
  keys
    .command('revoke <id>')
    .description('revoke a key now; this cannot be undone')
    .option(...configOption)
    .action((id: string, options: Options) => run(options, (session) => revoke(id, session)))
  keys
    .command('rotate <id>')
    .description('issue a new key to the same account; the old key expires after the overlap')
    .option('--overlap <duration>', `how long the old key stays valid, ${durations} (default: 24h)`, asOverlap)
    .option(...expires)
    .option(...configOption)
    .option(...jsonOption)
    .action((id: string, options: RotateOptions) => run(options, (session) => rotate(id, options, session)))
}

async function create({ name, expires, json }: CreateOptions, session: Session): Promise<ExitCode> {
  const { key, digest, issued } = newKey(expires)
  await session.stores.accounts.addKey({ ...issued, name }, digest, session.actor)
  printKey({ ...issued, name }, key, json, session)
  return 0
}

async function list({ json = false }: Options, { stores, terminal }: Session): Promise<ExitCode> {
  const issued = await stores.accounts.listKeys()
  const now = Date.now()
  if (json) {
    terminal.out(JSON.stringify(issued.map((key) => asJson(key, now))))
    return 0
  }
  const rows = issued.map((key) => [key.id, key.name, stateOf(key, now), toIso(key.createdAt) ?? '', endOf(key)])
  for (const line of formatTable([['id', 'account', 'state', 'created', 'ends'], ...rows])) terminal.out(line)
  return 0
}

async function revoke(id: string, { stores, terminal, actor }: Session): Promise<ExitCode> {
  if (!(await stores.accounts.revokeKey(id, Date.now(), actor)))
    return refuse(`no key has the id ${id}, or it is already revoked`, terminal)
  terminal.out(`The key ${id} is revoked.`)
  return 0
}

async function rotate(id: string, { overlap = dayMs, expires, json }: RotateOptions, session: Session): Promise<ExitCode> {
  const { accounts } = session.stores
  const { key, digest, issued } = newKey(expires)
  const old = (await accounts.listKeys()).find((known) => known.id === id)
  const until = Math.min(issued.createdAt + overlap, old?.expiresAt ?? Number.POSITIVE_INFINITY)
  if (!old || !(await accounts.rotateKey(id, until, issued, digest, session.actor)))
    return refuse(`no valid key has the id ${id}`, session.terminal)
  printKey({ ...issued, name: old.name }, key, json, session)
  if (!json) session.terminal.out(`The old key ${id} ends at ${toIso(until)}.`)
  return 0
}

/** As `keys list --json` and the operator's API have it. */
export function asJson(key: IssuedKey, now: number) {
  const [createdAt, expiresAt, revokedAt] = [toIso(key.createdAt), toIso(key.expiresAt), toIso(key.revokedAt)]
  return { id: key.id, name: key.name, state: stateOf(key, now), createdAt, expiresAt, revokedAt }
}

export function newKey(lifetime: number | undefined) {
  const key = makeKey(crypto.getRandomValues(new Uint8Array(keyBytes)))
  const createdAt = Date.now()
  const expiresAt = lifetime === undefined ? undefined : createdAt + lifetime
  return { key, digest: hashKey(key), issued: { id: crypto.randomUUID(), createdAt, expiresAt } }
}

function printKey(issued: IssuedKey, key: string, isJson = false, { config, terminal }: Session): void {
  const { id, name } = issued
  if (config.auth.mode !== 'managed') {
    terminal.err(`warning: auth.mode is ${config.auth.mode}: the gateway accepts issued keys only if it is managed`)
  }
  if (isJson) {
    terminal.out(JSON.stringify({ id, name, key, expiresAt: toIso(issued.expiresAt) }))
    return
  }
  for (const line of formatTable([
    ['key', key],
    ['id', id],
    ['account', name],
    ['ends', endOf(issued)],
  ]))
    terminal.out(line)
  terminal.out('The key is not shown again: only its SHA-256 is stored.')
}

function stateOf({ expiresAt, revokedAt }: IssuedKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

function endOf({ expiresAt, revokedAt }: IssuedKey): string {
  return toIso(revokedAt ?? expiresAt) ?? 'never'
}
