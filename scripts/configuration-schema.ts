/** zod: writes `config/gateway.schema.json` from the schema, for editors: `npm run docs:configuration`. */
import { z } from 'zod'
import { schema } from '../src/config/schema.ts'

type Json = Readonly<Record<string, unknown>>

/** A reference in a value, like `${NAME}`: it may stand for anything. */
const reference = { type: 'string', pattern: '\\$\\{' }

/** What an editor checks and shows. It cannot follow references and rules between keys: `swapgate check` can. */
export function configurationSchema(): string {
  const generated = z.toJSONSchema(schema, { target: 'draft-07', io: 'input', unrepresentable: 'any' })
  const { $schema, ...written } = toWritten(generated) as Json
  return `${JSON.stringify({ $schema, title: 'swapgate: the configuration', ...written }, null, 2)}\n`
}

/** The schema of what is written in the file. That of zod is of its text, in which every scalar is a string. */
function toWritten(part: unknown): unknown {
  if (Array.isArray(part)) return part.map(toWritten)
  if (typeof part !== 'object' || part === null) return part
  const { description, default: _, unit, defaultValue, number, secret, propertyNames, ...rest } = part as Json
  const described = {
    ...(typeof description === 'string' && { description: describe(description, unit) }),
    ...(defaultValue !== undefined && defaultValue !== null && { default: defaultValue }),
    ...((secret === 'key' || secret === 'terms') && { writeOnly: true }),
  }
  if (rest.type === 'string') return { ...described, ...toScalar(rest, number) }
  const inner = Object.entries(rest).map(([key, value]) => [
    key,
    key === 'properties' ? toProperties(value as Json) : toWritten(value),
  ])
  return { ...described, ...Object.fromEntries(inner) }
}

/** Names of keys are no words of a schema. */
function toProperties(properties: Json): Json {
  return Object.fromEntries(Object.entries(properties).map(([name, property]) => [name, toWritten(property)]))
}

function toScalar({ type: _, enum: words, ...text }: Json, number: unknown): Json {
  if (number !== undefined) return { anyOf: [number, { type: 'string', pattern: '^[0-9]+(\\.[0-9]+)?$|\\$\\{' }] }
  if (Array.isArray(words)) return { anyOf: [{ enum: words.flatMap(spellings) }, reference] }
  if ('const' in text) return { enum: spellings(text.const) }
  const type = ['string', 'number', 'boolean']
  return Object.keys(text).length === 0 ? { type } : { anyOf: [{ type, ...text }, reference] }
}

/** YAML reads `true` as no string. */
function spellings(word: unknown): readonly unknown[] {
  return word === 'true' || word === 'false' ? [word === 'true', word] : [word]
}

/** Links lead to the pages beside `docs/configuration.md`, which an editor does not have. */
function describe(description: string, unit: unknown): string {
  const text = description.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
  return unit ? `${text} (${unit})` : text
}
