/** The keys of accounts: issued, listed, rotated and revoked by a person (docs/contract.md §5). */
import { toIso } from '../../domain/instant.ts'
import { isKey, keyBytes, makeKey } from '../../domain/key.ts'
import { type AccountLimits, accountLimitNames, type KeyAccess, keyScopes } from '../../domain/key-access.ts'
import { parseNetwork } from '../../domain/network-address.ts'
import type { Account, Accounts, IssuedKey } from '../access/authentication.ts'

const accountName = /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}(?<! )$/u
export const accountNameRule = '1 to 64 printable characters'

/** Undefined if the text is no name. */
export function toAccountName(text: string): string | undefined {
  const name = text.normalize()
  return accountName.test(name) ? name : undefined
}

export const newAccountNameRule = `${accountNameRule}, but not . or ..`

/** The same of a name that an account may be given: as the end of a path these mean another path. */
export function toNewAccountName(text: string): string | undefined {
  return text === '.' || text === '..' ? undefined : toAccountName(text)
}

export interface KeyPorts {
  readonly accounts: Accounts
  /** A one-way hash: the key itself is not stored. */
  readonly digest: (key: string) => string
  /** The operator, for the audit log. */
  readonly actor: string
}

/** With the key itself: it is shown this once. */
export interface NewKey extends IssuedKey {
  readonly key: string
}

interface NewKeySettings extends KeyAccess {
  /** Undefined: the key does not expire. */
  readonly lifetimeMs?: number | undefined
}

/** Creates the account if the name is new. */
export async function issueKey(
  { accounts, digest, actor }: KeyPorts,
  name: string,
  settings: NewKeySettings = {},
): Promise<NewKey> {
  const { key, ...made } = makeIssuedKey(settings)
  await accounts.addKey({ ...made, name }, digest(key), actor)
  return { ...made, name, key }
}

const defaultOverlapMs = 86_400_000

interface Rotation extends NewKeySettings {
  /** How long the old key stays valid; by default a day. */
  readonly overlapMs?: number | undefined
}

/** Issues a new key to the account of the key `id`, with its scope and networks unless others are given. Undefined if that is no valid key. */
export async function rotateKey(
  { accounts, digest, actor }: KeyPorts,
  id: string,
  { overlapMs = defaultOverlapMs, ...settings }: Rotation,
): Promise<{ readonly issued: NewKey; readonly oldExpiresAt: number } | undefined> {
  const old = await accounts.readKey(id)
  const { scope = old?.scope, networks = old?.networks } = settings
  const { key, ...made } = makeIssuedKey({ ...settings, scope, networks })
  const oldExpiresAt = Math.min(made.createdAt + overlapMs, old?.expiresAt ?? Number.POSITIVE_INFINITY)
  if (!old || !(await accounts.rotateKey(id, oldExpiresAt, made, digest(key), actor))) return undefined
  return { issued: { ...made, name: old.name, key }, oldExpiresAt }
}

function makeIssuedKey({ lifetimeMs, scope, networks }: NewKeySettings): Omit<NewKey, 'name'> {
  const key = makeKey(crypto.getRandomValues(new Uint8Array(keyBytes)))
  const createdAt = Date.now()
  const expiresAt = lifetimeMs === undefined ? undefined : createdAt + lifetimeMs
  return { key, id: crypto.randomUUID(), hint: key.slice(-hintLength), createdAt, expiresAt, scope, networks }
}

/** The end of a key: enough to recognize it among others. */
const hintLength = 4

export function keyState({ expiresAt, revokedAt }: IssuedKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

/** A key as JSON, for the commands and the operator's API. */
export function keyRow(key: IssuedKey, now: number) {
  const [createdAt, expiresAt, revokedAt] = [toIso(key.createdAt), toIso(key.expiresAt), toIso(key.revokedAt)]
  const { id, name, hint, scope = keyScopes, networks } = key
  const lastUsedAt = toIso(key.lastUsedAt) ?? null
  const access = { hint: hint ?? null, scope, networks: networks ?? null }
  return { id, name, ...access, state: keyState(key, now), createdAt, lastUsedAt, expiresAt, revokedAt }
}

export function newKeyRow({ id, name, key, expiresAt }: NewKey) {
  return { id, name, key, expiresAt: toIso(expiresAt) }
}

/** The key that was issued as this text, in any state; undefined if none was. */
export async function findIssuedKey({ accounts, digest }: Omit<KeyPorts, 'actor'>, text: string): Promise<IssuedKey | undefined> {
  if (!isKey(text)) return undefined
  const { keyId } = (await accounts.findKeys([digest(text)])).get(digest(text)) ?? {}
  return keyId === undefined ? undefined : await accounts.readKey(keyId)
}

// What options and members of a key's access are: texts of a person.

export const scopeRule = `words of ${keyScopes.join(', ')}, separated by commas`
export const networksRule =
  'addresses or networks like 203.0.113.0/24 or 2001:db8::/32, without bits of a host, separated by commas'

/** Undefined if a part is no network. */
export function toNetworks(text: string): readonly string[] | undefined {
  const networks = text.split(',').map(parseNetwork)
  return networks.every((network) => network !== undefined) ? networks : undefined
}

// Accounts.

/** The highest limit that an account can have. */
export const maxLimit = 1_000_000
export const limitRule = `a whole number from 1 to ${maxLimit}`

/** The changes after which every limit is as configured. */
export const noOwnLimits = Object.fromEntries(accountLimitNames.map((name) => [name, null])) as Readonly<
  Record<keyof AccountLimits, number | null>
>

/** An account as JSON. A limit that is null is as configured. */
export function accountRow({ name, keys, validKeys, createdAt, limits }: Account) {
  return { name, keys, validKeys, createdAt: toIso(createdAt), limits: { ...noOwnLimits, ...limits } }
}
