/** What is counted besides the requests themselves. Every member comes from a closed list, so it can be a label. */

export type Observation =
  /** A provider's answer that was not quite its form: `field` is a field of the form, or `_other`. */
  | { readonly what: 'drift'; readonly provider: string; readonly field: string; readonly drift: Drift }
  /** A field that the client's form has and the answer lacks, or that the gateway worked out. */
  | {
      readonly what: 'omitted' | 'derived'
      readonly client: string
      readonly provider: string | undefined
      readonly field: string
    }

export type Drift =
  | 'unknownField'
  | 'numberAsText'
  | 'unknownStatus'
  | 'badRow'
  | 'contradictingNetwork'
  | 'ambiguousName'
  | 'unreadable'

export type Observer = (observation: Observation) => void
