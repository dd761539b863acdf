import { JsonObject, type JsonValue } from '../json.ts'

/** The member at a path of names. Of a list the first item is taken. Undefined if there is none. */
export function memberAt(value: JsonValue | undefined, path: readonly string[]): JsonValue | undefined {
  let member = value
  for (const name of path) {
    if (Array.isArray(member)) member = member[0]
    if (!(member instanceof JsonObject)) return undefined
    member = member.get(name)
  }
  return member
}
