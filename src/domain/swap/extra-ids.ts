/** Memos and tags at a provider (docs/contract.md §3.5). */

/** Whether the provider supports them. `unconfirmed`: it does, but its responses may not repeat them. */
export type ExtraIds = boolean | 'unconfirmed'
