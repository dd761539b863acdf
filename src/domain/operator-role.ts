/** What a token of `admin.tokens` may do (docs/contract-operators.md §15). */

/** Who has any of them may read. `operate`: switch providers, issue keys that only quote, revoke any. `money`: settle, resolve, see whole addresses. */
export const operatorRoles = ['read', 'operate', 'money'] as const

export type OperatorRole = (typeof operatorRoles)[number]

/** As it is configured: a bare one has every role. */
export type OperatorToken = string | { readonly token: string; readonly roles: readonly OperatorRole[] }

export function tokenText(token: OperatorToken): string {
  return typeof token === 'string' ? token : token.token
}

/** In their order, each once. */
export function tokenRoles(token: OperatorToken): readonly OperatorRole[] {
  return typeof token === 'string' ? operatorRoles : operatorRoles.filter((role) => token.roles.includes(role))
}
