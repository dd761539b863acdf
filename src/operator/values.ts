/** zod: values in queries and bodies of the operator's API. */
import { z } from 'zod'
import { toDuration } from '../cli/duration.ts'
import { toTimestamp } from '../cli/timestamp.ts'

/** A date, a time, or a duration back from now; milliseconds since 1970. */
export const since = z.string().transform((text, context): number => {
  const duration = toDuration(text)
  const at = toTimestamp(text) ?? (duration === undefined ? undefined : Date.now() - duration)
  if (at !== undefined) return at
  context.issues.push({ code: 'custom', message: 'must be a date, a time or a duration like 7d', input: text })
  return z.NEVER
})

/** An integer in a query. */
export function integer(min: number, max: number, defaultValue: number) {
  const message = `must be an integer from ${min} to ${max}`
  return z
    .string()
    .regex(/^[0-9]{1,9}$/, message)
    .transform(Number)
    .refine((value) => value >= min && value <= max, message)
    .default(defaultValue)
}
