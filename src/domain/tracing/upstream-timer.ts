import { Stopwatch } from './stopwatch.ts'

/** What is noted of the calls at providers on behalf of one question. It runs while at least one is waited for. */
export class UpstreamTimer extends Stopwatch {
  /** Tag of the provider that was asked last, whether it was reached or not. */
  provider: string | undefined
}
