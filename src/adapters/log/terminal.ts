/** Formats a log line for a terminal: the time, the level, the event, and the rest as pairs. */
import { printable } from '../../domain/printable.ts'

const dim = '\u001b[2m'
const plain = '\u001b[0m'
const colours: Readonly<Record<string, string>> = {
  info: '\u001b[32m',
  warn: '\u001b[33m',
  error: '\u001b[31m',
  fatal: '\u001b[31m',
}

/** `line` is JSON. Its strings stay escaped. */
export function formatForTerminal(line: string): string {
  const record: Readonly<Record<string, unknown>> = JSON.parse(line)
  const { level = '', time = '', event = '', message, ...others } = record
  const timeOfDay = String(time).slice(11, 23)
  const pairs = Object.entries(others).map(([name, value]) => `${dim}${name}=${plain}${print(value)}`)
  const text = message === undefined ? '' : ` ${print(message)}`
  return `${dim}${timeOfDay}${plain} ${colours[String(level)] ?? ''}${String(level).padEnd(5)}${plain} ${event}${text} ${pairs.join(' ')}\n`
}

const simple = /^[\w./{}:~ …()-]*$/

function print(value: unknown): string {
  return typeof value === 'string' && simple.test(value) ? value : printable(JSON.stringify(value))
}
