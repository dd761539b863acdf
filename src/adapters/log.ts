/** pino: makes one line of JSON of an event, escaped and cut to a closed list of fields. */
import { pino } from 'pino'
import type { BreakerState, Observation, Observer } from '../domain/observation.ts'
import { factsOf } from './log/error.ts'
import { eventOf } from './log/event.ts'
import { Sink } from './log/sink.ts'
import { standardError } from './log/standard-error.ts'
import { readable } from './log/terminal.ts'

export interface LogSettings {
  /** Lines of less weight are not written. */
  readonly level: string
  /** Whether every request has a line. */
  readonly requests: boolean
}

export interface Log {
  /** Writes of what is observed what is worth a line; never throws, never waits. */
  readonly observe: Observer
  /** Something failed with nobody to care. */
  readonly fail: (message: string, reason: unknown) => void
  readonly configure: (settings: LogSettings) => void
  /** Lines that were lost since nobody took them. */
  readonly dropped: () => number
  /** Waits until all is written, at most a second. False where something is not: it would keep the process from ending. */
  readonly close: () => Promise<boolean>
}

const patience = 1_000

/** `formOf` tells the form of a provider, by tag. */
export function openLog(settings: LogSettings, formOf: (tag: string | undefined) => string): Log {
  const { write, isTerminal } = standardError()
  const sink = new Sink(write)
  const print = isTerminal ? (line: string) => sink.write(readable(line)) : (line: string) => sink.write(line)
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
  let isTelling = settings.requests
  const isNews = newsFilter()
  return {
    observe(observation: Observation) {
      if (observation.what === 'request' ? !isTelling : !isNews(observation)) return
      const event = eventOf(observation, formOf)
      if (event) logger[event.level](event.fields)
    },
    fail: (message, reason) => logger.fatal({ event: 'failure', message, error: factsOf(reason) }),
    configure({ level, requests }) {
      logger.level = level
      isTelling = requests
    },
    dropped: () => sink.dropped,
    close: () => sink.end(patience),
  }
}

/** A breaker is told of when it turns, not when it is made. */
function newsFilter(): (observation: Observation) => boolean {
  const breakers = new Map<string, BreakerState>()
  return (observation) => {
    if (observation.what !== 'breaker') return true
    const { provider, operation, state } = observation
    const before = breakers.get(`${provider} ${operation}`) ?? 'closed'
    breakers.set(`${provider} ${operation}`, state)
    return state !== before
  }
}
