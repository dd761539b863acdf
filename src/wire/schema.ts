/** JSON Schema (2020-12, as OpenAPI 3.1 has it) as plain data. */
export type Schema = Readonly<Record<string, unknown>>
