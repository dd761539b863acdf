/** pino: writes each event as one line of JSON with a fixed list of fields. */
import { pino } from 'pino'
import type { BreakerState, Observation, Observer } from '../../domain/observation.ts'
import { printable } from '../../domain/printable.ts'
import { describeError } from './error.ts'
import { eventOf } from './event.ts'
import { Sink } from './sink.ts'
import { openStderr, type Stderr } from './stderr.ts'
import { formatForTerminal } from './terminal.ts'

export interface LogSettings {
  /** Lines of a lower level are not written. */
  readonly level: string
  /** Whether to log every request. */
  readonly requests: boolean
}

export interface Log {
  /** Logs those observations that have a line. Never throws, never waits. */
  readonly observe: Observer
  /** Logs an error that no caller handles. */
  readonly fail: (message: string, reason: unknown) => void
  readonly configure: (settings: LogSettings) => void
  /** The number of lost lines: the reader of standard error was too slow or has gone. */
  readonly dropped: () => number
  /** Waits until all is written, at most a second. False if not: then the pending write keeps the process from ending. */
  readonly close: () => Promise<boolean>
}

const closeTimeoutMs = 1_000

/** Whether a line of JSON has only ASCII: pino leaves what a terminal obeys in eight bits. */
const isPlain = (line: string): boolean => !/[^\n -~]/.test(line)

/** `formOf` returns the form of a provider, by tag. */
export function openLog(
  settings: LogSettings,
  formOf: (tag: string | undefined) => string,
  { write, isTerminal }: Stderr = openStderr(),
): Log {
  const sink = new Sink(write)
  const print = isTerminal
    ? (line: string) => sink.write(formatForTerminal(line))
    : (line: string) => sink.write(isPlain(line) ? line : `${printable(line.trimEnd())}\n`)
  const logger = pino(
    {
      level: settings.level,
      base: null,
      messageKey: 'message',
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (level) => ({ level }) },
    },
    { write: print },
  )
  let logsRequests = settings.requests
  const isChange = breakerChangeFilter()
  return {
    observe(observation: Observation) {
      if (observation.what === 'request' ? !logsRequests : !isChange(observation)) return
      const event = eventOf(observation, formOf)
      if (event) logger[event.level](event.fields)
    },
    fail: (message, reason) => logger.fatal({ event: 'failure', message, error: describeError(reason) }),
    configure({ level, requests }) {
      logger.level = level
      logsRequests = requests
    },
    dropped: () => sink.dropped,
    close: () => sink.end(closeTimeoutMs),
  }
}

/** Passes changes of a breaker's state, but not its first closed state. */
function breakerChangeFilter(): (observation: Observation) => boolean {
  const breakers = new Map<string, BreakerState>()
  return (observation) => {
    if (observation.what !== 'breaker') return true
    const { provider, operation, state } = observation
    const before = breakers.get(`${provider} ${operation}`) ?? 'closed'
    breakers.set(`${provider} ${operation}`, state)
    return state !== before
  }
}
