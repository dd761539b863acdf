/** What happens to a create and its swap, for the person who asks why: docs/operating.md lists the events. */

/** Of one create, from its request until its outcome is stored. */
export class Timeline {
  /** The id of the create in the ledger, once it is stored; of several, the last one. */
  intent: string | undefined
}
