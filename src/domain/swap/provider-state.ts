/**
 * What a provider is used for (docs/contract.md §12): `active` for everything; `draining` for reads of what it holds; `off` for
 * nothing: it is not called, and its transactions are answered from the ledger.
 */
export const providerStates = ['active', 'draining', 'off'] as const

export type ProviderState = (typeof providerStates)[number]
