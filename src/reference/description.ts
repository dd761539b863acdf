/** What the reference reads of an OpenAPI document. */

interface Reference {
  readonly $ref?: string
}

export interface FieldSchema extends Reference {
  readonly type?: string | readonly string[]
  readonly description?: string
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: readonly string[]
  readonly items?: FieldSchema
}

interface Parameter extends Reference {
  readonly name: string
  readonly in: string
  readonly required?: boolean
  readonly description: string
  readonly schema: FieldSchema
  readonly example?: unknown
}

interface Header extends Reference {
  readonly description?: string
  readonly schema?: FieldSchema
}

interface Content {
  readonly schema: FieldSchema
  readonly example?: Readonly<Record<string, unknown>>
}

interface StreamContent {
  readonly schema: FieldSchema
  readonly example: string
}

export interface Response extends Reference {
  readonly description: string
  readonly headers?: Readonly<Record<string, Header>>
  readonly content?: { readonly 'application/json'?: Content; readonly 'text/event-stream'?: StreamContent }
}

export interface Operation {
  readonly summary: string
  readonly description: string
  readonly parameters: readonly Parameter[]
  readonly requestBody?: { readonly content: { readonly 'application/json': Content } }
  readonly responses: Readonly<Record<string, Response>>
}

export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly headers: Readonly<Record<string, Header>> } & Readonly<
    Record<string, Readonly<Record<string, unknown>>>
  >
}

/** What a `$ref` stands for, or the value itself. */
export function resolved<T extends Reference>(value: T, { components }: Description): T {
  if (value.$ref === undefined) return value
  const [kind = '', name = ''] = value.$ref.split('/').slice(-2)
  return components[kind]?.[name] as T
}
