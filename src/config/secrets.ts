/** What of a configuration is secret: the values at the places that its schema marks (`Secret` in value-types.ts). */
import { z } from 'zod'
import { schema } from './schema.ts'
import type { Secret } from './value-types.ts'

type Path = readonly string[]

interface SecretPlace {
  /** `*` stands for any name. A list is one value. */
  readonly path: Path
  readonly secret: Secret
}

export const secretPlaces: readonly SecretPlace[] = placesIn(schema, [])

/** Whether nobody may see the value that is there. */
export function isSecretAt(path: Path, value: unknown): boolean {
  const secret = markAt(path)
  return secret === 'url' ? mayHaveCredentials.test(String(value)) : secret !== undefined
}

const mayHaveCredentials = /[@?]/

/** The keys and passwords in a part of a configuration: no text of a provider may bring one to a client. */
export function keysIn(part: unknown, path: Path): readonly string[] {
  if (typeof part === 'object' && part !== null && !Array.isArray(part))
    return Object.entries(part).flatMap(([name, inner]) => keysIn(inner, [...path, name]))
  const secret = markAt(path)
  const words = [part].flat().map(String)
  const keys = secret === 'key' ? words : secret === 'url' ? words.map(passwordOf) : []
  return keys.filter((key) => key !== '')
}

function passwordOf(url: string): string {
  return decodeURIComponent(URL.parse(url)?.password ?? '')
}

function markAt(path: Path): Secret | undefined {
  return secretPlaces.find(
    (place) => place.path.length === path.length && place.path.every((name, at) => name === '*' || name === path[at]),
  )?.secret
}

function placesIn(kind: z.core.$ZodType, path: Path): readonly SecretPlace[] {
  const secret = z.globalRegistry.get(kind)?.secret as Secret | undefined
  const own = secret === undefined ? [] : [{ path, secret }]
  if (kind instanceof z.ZodObject)
    return [...own, ...Object.entries(kind.shape).flatMap(([name, inner]) => placesIn(inner, [...path, name]))]
  if (kind instanceof z.ZodRecord) return [...own, ...placesIn(kind.valueType, [...path, '*'])]
  return [...own, ...insideOf(kind).flatMap((inner) => placesIn(inner, path))]
}

/** The kinds of the same place. */
function insideOf(kind: z.core.$ZodType): readonly z.core.$ZodType[] {
  if (kind instanceof z.ZodDefault || kind instanceof z.ZodPrefault || kind instanceof z.ZodOptional) return [kind.unwrap()]
  if (kind instanceof z.ZodUnion) return kind.options
  if (kind instanceof z.ZodArray) return [kind.element]
  return kind instanceof z.ZodPipe ? [kind.in] : []
}
