/** The keys of accounts: issued, listed, rotated and revoked by a person (docs/contract.md §5). */
import { toIso } from '../../domain/instant.ts'
import { keyBytes, makeKey } from '../../domain/key.ts'
import type { Accounts, IssuedKey } from '../access/authentication.ts'

const accountName = /^(?! )[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,64}(?<! )$/u
export const accountNameRule = '1 to 64 printable characters'

/** Undefined if the text is no name. */
export function toAccountName(text: string): string | undefined {
  return accountName.test(text) ? text.normalize() : undefined
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

/** Creates the account if the name is new. `lifetimeMs` undefined: the key does not expire. */
export async function issueKey(
  { accounts, digest, actor }: KeyPorts,
  name: string,
  lifetimeMs: number | undefined,
): Promise<NewKey> {
  const { key, ...made } = makeIssuedKey(lifetimeMs)
  await accounts.addKey({ ...made, name }, digest(key), actor)
  return { ...made, name, key }
}

const defaultOverlapMs = 86_400_000

interface Rotation {
  readonly lifetimeMs: number | undefined
  /** How long the old key stays valid; by default a day. */
  readonly overlapMs?: number | undefined
}

/** Issues a new key to the account of the key `id`. Undefined if that is no valid key. */
export async function rotateKey(
  { accounts, digest, actor }: KeyPorts,
  id: string,
  { lifetimeMs, overlapMs = defaultOverlapMs }: Rotation,
): Promise<{ readonly issued: NewKey; readonly oldExpiresAt: number } | undefined> {
  const { key, ...made } = makeIssuedKey(lifetimeMs)
  const old = (await accounts.listKeys()).find((known) => known.id === id)
  const oldExpiresAt = Math.min(made.createdAt + overlapMs, old?.expiresAt ?? Number.POSITIVE_INFINITY)
  if (!old || !(await accounts.rotateKey(id, oldExpiresAt, made, digest(key), actor))) return undefined
  return { issued: { ...made, name: old.name, key }, oldExpiresAt }
}

function makeIssuedKey(lifetimeMs: number | undefined): Omit<NewKey, 'name'> {
  const key = makeKey(crypto.getRandomValues(new Uint8Array(keyBytes)))
  const createdAt = Date.now()
  const expiresAt = lifetimeMs === undefined ? undefined : createdAt + lifetimeMs
  return { key, id: crypto.randomUUID(), createdAt, expiresAt }
}

export function keyState({ expiresAt, revokedAt }: IssuedKey, now: number): 'active' | 'expired' | 'revoked' {
  if (revokedAt !== undefined) return 'revoked'
  return expiresAt !== undefined && expiresAt <= now ? 'expired' : 'active'
}

/** A key as JSON, for the commands and the operator's API. */
export function keyRow(key: IssuedKey, now: number) {
  const [createdAt, expiresAt, revokedAt] = [toIso(key.createdAt), toIso(key.expiresAt), toIso(key.revokedAt)]
  return { id: key.id, name: key.name, state: keyState(key, now), createdAt, expiresAt, revokedAt }
}

export function newKeyRow({ id, name, key, expiresAt }: NewKey) {
  return { id, name, key, expiresAt: toIso(expiresAt) }
}

/** The accounts that have keys, by name. */
export function accountRows(keys: readonly IssuedKey[], now: number) {
  const rows = [...Map.groupBy(keys, ({ name }) => name)].map(([name, ofName]) => ({
    name,
    keys: ofName.length,
    validKeys: ofName.filter((key) => keyState(key, now) === 'active').length,
    createdAt: toIso(ofName[0]?.createdAt),
  }))
  return rows.toSorted((one, other) => (one.name < other.name ? -1 : 1))
}
