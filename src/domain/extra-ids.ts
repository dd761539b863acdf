/** Memos and tags at a provider (`spec/contract.md` §3, Extra ids). */

/** Whether it honours those that it is given; `unconfirmed`: it does, and its answers may be silent about them. */
export type ExtraIds = boolean | 'unconfirmed'
