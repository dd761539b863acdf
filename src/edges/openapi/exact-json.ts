/** JSON that keeps the digits of numbers: `0.10` is printed as `0.10`. */

/** TypeScript does not yet declare these members. */
declare global {
  interface JSON {
    readonly rawJSON: (lexeme: string) => unknown
    parse(text: string, revive: (name: string, value: unknown, context: { readonly source?: string }) => unknown): unknown
  }
}

export function parseExact(text: string): unknown {
  return JSON.parse(text, (_, value, { source }) => (typeof value === 'number' ? JSON.rawJSON(source ?? String(value)) : value))
}
