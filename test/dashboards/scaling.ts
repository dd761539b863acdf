/** Shortens every window and waiting time of the rules, so that a test does not take days. */
import { stringify } from 'yaml'
import { readRules } from './rule.ts'

/** An hour is a minute, five minutes are five seconds. */
const usualFactor = 60

/** What takes milliseconds may take ten times as long on a machine that many share: these two limits are moved. */
const maxWait = [
  ['le="0.025"', 'le="0.25"'],
  ['> 0.1', '> 1'],
] as const

/** Ranges, offsets, and the steps of subqueries. */
const durations = /(\[|offset |(?<=\[\w+):)(\w+)/g

/** The text of a file of rules. Expressions and all other thresholds stay; ranges, offsets and `for` are divided by the factor. */
export function scaled(file: string, factor = usualFactor): string {
  const groups = readRules(file).groups.map((group) => ({
    ...group,
    rules: group.rules.map((rule) => ({
      ...rule,
      expr: maxWait
        .reduce((expression, [limit, longer]) => expression.replaceAll(limit, longer), rule.expr)
        .replaceAll(durations, (_, before: string, duration: string) => before + shorter(duration, factor)),
      ...(rule.for !== undefined && { for: shorter(rule.for, factor) }),
    })),
  }))
  return stringify({ groups })
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400 }

/** Divided by the factor. */
export function shorter(duration: string, factor: number): string {
  const [, count, unit = ''] = /^(\d+)([smhd])$/.exec(duration) ?? []
  const seconds = Number(count) * (units[unit] ?? Number.NaN)
  if (Number.isNaN(seconds)) throw new Error(`not a duration: ${duration}`)
  return `${(seconds * 1000) / factor}ms`
}
