/** Memos and tags at a provider (docs/contract.md §3.5). */

/** Whether the provider supports them. `unconfirmed`: it does, but its responses may not repeat them. */
export type ExtraIds = boolean | 'unconfirmed'

/** Where deposit addresses are shared, so that a deposit needs a memo. */
export interface DepositMemoNetworks {
  /** Names or aliases. */
  readonly networks: readonly string[]
  /** Whether the configuration lists them; then nothing else counts. */
  readonly isConfigured: boolean
  /** Whether the provider's list says for each asset that a deposit needs one. */
  readonly usesFlags: boolean
}
