/**
 * The use of a provider (docs/contract.md §12): `active`: for everything; `draining`: only for reads of its transactions; `off`: it
 * is not called, and its transactions are returned from the ledger.
 */
export const providerStates = ['active', 'draining', 'off'] as const

export type ProviderState = (typeof providerStates)[number]
