/** Memos and tags at a provider (docs/contract.md §3.5). */

/** Whether it honours those that it is given; `unconfirmed`: it does, and its answers may be silent about them. */
export type ExtraIds = boolean | 'unconfirmed'
