/** What an issued key may do and from where, and the limits of its account (docs/contract.md §5, §7). */

/** `native`: the native lane, whatever the method. */
export const keyScopes = ['quote', 'read', 'create', 'native'] as const

export type KeyScope = (typeof keyScopes)[number]

/** `streams`: at a time; the others: requests in a window. */
export const accountLimitNames = ['quotes', 'create', 'read', 'streams'] as const

/** Of an account, in place of `limits` of the configuration. What is absent is as configured. */
export type AccountLimits = Readonly<Partial<Record<(typeof accountLimitNames)[number], number>>>

export interface KeyAccess {
  /** Absent: everything. */
  readonly scope?: readonly KeyScope[] | undefined
  /** As `<address>/<length>`. Absent: everywhere. */
  readonly networks?: readonly string[] | undefined
}

/** The scopes of a text like `quote,read`, in their order; undefined if a word is none. */
export function parseScope(text: string): readonly KeyScope[] | undefined {
  const words = new Set(text.split(',').map((word) => word.trim()))
  const scope = keyScopes.filter((word) => words.has(word))
  return scope.length === words.size ? scope : undefined
}
