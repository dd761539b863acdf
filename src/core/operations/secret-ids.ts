/** Ids of which a part moves money at the provider: whoever may move none gets the part by which people know the swap (docs/contract-operators.md §15). */
import type { FindCursor } from '../ports/ledger-admin.ts'

/** Whether the ids of a tag may be shown whole. */
export type HasPlainIds = (tag: string) => boolean

/** A tag, what comes before the first dot, and the secret: anywhere in a text, also in JSON and in JSON that a text of it has. */
const tagged = /\b([a-z0-9]{1,16})~([^~."\\\s]+)\.[^~"\\\s]+/g

export function withoutSecrets(text: string, hasPlainIds: HasPlainIds): string {
  return text.replace(tagged, (whole, tag: string, known: string) => (hasPlainIds(tag) ? whole : `${tag}~${known}`))
}

/** The provider's own id. */
export function knownPart(tag: string, id: string, hasPlainIds: HasPlainIds): string {
  return hasPlainIds(tag) ? id : (id.split('.', 1)[0] ?? '')
}

/** What moves money in the provider's own id; undefined: nothing. */
export function secretPart(tag: string, id: string, hasPlainIds: HasPlainIds): string | undefined {
  const known = knownPart(tag, id, hasPlainIds)
  return known.length === id.length ? undefined : id.slice(known.length + 1)
}

/** That of the first id with a tag that the text has. */
export function secretIn(text: string, hasPlainIds: HasPlainIds): string | undefined {
  for (const [whole, tag = ''] of text.matchAll(tagged))
    if (!hasPlainIds(tag)) return secretPart(tag, whole.slice(tag.length + 1), hasPlainIds)
  return undefined
}

/** Behind the same swap: a slash follows a dot. */
export function cursorWithoutSecret({ key, position, ...cursor }: FindCursor, hasPlainIds: HasPlainIds): FindCursor {
  const known = position && knownPart(position.provider, position.provider_id, hasPlainIds)
  const behind = position && (known === position.provider_id ? position : { ...position, provider_id: `${known}/` })
  return { ...cursor, key: withoutSecrets(key, hasPlainIds), ...(behind && { position: behind }) }
}
