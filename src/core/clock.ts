/** Milliseconds since 1970. */
export type Clock = () => number
/** Milliseconds on a clock that is never set back; where it starts has no meaning. */
export type SteadyClock = () => number
