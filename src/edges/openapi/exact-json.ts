/** JSON that keeps the digits of its numbers: `0.10` is printed as `0.10` again. */
interface Exact {
  readonly rawJSON: (lexeme: string) => unknown
  readonly parse: (
    text: string,
    revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown,
  ) => unknown
}

/** TypeScript does not know these members yet. */
const exact = JSON as unknown as Exact

export function parseExact(text: string): unknown {
  return exact.parse(text, (_, value, { source }) => (typeof value === 'number' ? exact.rawJSON(source ?? String(value)) : value))
}
