import { Stopwatch } from './stopwatch.ts'

/** Measures the time with at least one pending provider call of a request. */
export class UpstreamTimer extends Stopwatch {
  /** Tag of the provider that was called last, even if the call was rejected. */
  provider: string | undefined
}
