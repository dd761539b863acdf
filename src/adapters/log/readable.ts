/** The log as a person reads it: a line for each event, and below it only what is a list. */
import { printable } from '../../domain/printable.ts'
import type { ErrorFields, Event } from './events.ts'

/** Ends with a line break. No text of a provider or a client controls the terminal, and each line is one. */
export function readable(event: Event, hasColours: boolean): string {
  const paint: Paint = hasColours ? (text, colour) => `${colour}${text}${plain}` : (text) => text
  const head = event.event === 'request' ? requestLine(event, paint) : eventLine(event, paint)
  const details = textsOf(event.details).map((detail) => `  - ${printable(detail)}`)
  const stack = textsOf(causeOf(event)?.stack).map((frame) => `    ${printable(frame)}`)
  return [`${paint(event.time.slice(11, 23), dim)} ${head}`, ...details, ...stack, ''].join('\n')
}

type Paint = (text: string, colour: string) => string

const plain = '\u001b[0m'
const dim = '\u001b[2m'
const red = '\u001b[31m'
const green = '\u001b[32m'
const yellow = '\u001b[33m'
const colours = { info: green, warn: yellow, error: red, fatal: red }
/** Of a level, and of most methods. */
const wordLength = 5

/** The method, the path, the status, the duration, the provider, the id of the request; then what went wrong. */
function requestLine(event: Event, paint: Paint): string {
  const { level, method, route, status, seconds, provider, request_id, error_type, reason } = event
  // What a client is told of a provider or the gateway says less.
  const why = level === 'info' ? (reason ?? error_type) : error_type
  const parts = [
    String(method).padEnd(wordLength),
    route === '' ? '(unknown path)' : value(route),
    paint(String(status), Number(status) < 400 ? green : Number(status) < 500 ? yellow : red),
    duration(Number(seconds)),
    provider === 'none' ? '-' : value(provider),
    paint(value(request_id), dim),
    ...(error_type === 'none' ? [] : [paint(value(why), level === 'info' ? yellow : colours[level])]),
    ...causeText(event),
  ]
  return parts.join(' ')
}

/** The level, the name, the message, and the rest as pairs. */
function eventLine(event: Event, paint: Paint): string {
  const { level, time: _, event: name, message, error: __, details: ___, ...others } = event
  const fields = Object.entries(others).filter(([, given]) => given !== undefined)
  const pairs = fields.map(([field, given]) => `${paint(`${field}=`, dim)}${value(given)}`)
  const texts = typeof message === 'string' ? [printable(message)] : []
  return [paint(level.padEnd(wordLength), colours[level]), name, ...texts, ...causeText(event), ...pairs].join(' ')
}

function causeOf({ error }: Event): Partial<ErrorFields> | undefined {
  return error as Partial<ErrorFields> | undefined
}

function causeText(event: Event): readonly string[] {
  const cause = causeOf(event)
  if (!cause) return []
  const { name, code, message } = cause
  return [printable([name, code].filter(Boolean).join(' ') + (message ? `: ${message}` : ''))]
}

function duration(seconds: number): string {
  return seconds < 1 ? `${(seconds * 1000).toFixed(1)} ms` : `${seconds.toFixed(2)} s`
}

const simple = /^[\w./{}:~ …()-]*$/

/** Anything but plain words as JSON: what is quoted has a reason. */
function value(given: unknown): string {
  return typeof given === 'string' && simple.test(given) ? given : printable(JSON.stringify(given))
}

function textsOf(given: unknown): readonly string[] {
  return Array.isArray(given) ? given.map(String) : []
}
