/** The kinds of keys of the file, each with its row of `docs/configuration.md`. */
import type { z } from 'zod'
import { keys } from '../value-types.ts'

/** Documents a key in `docs/configuration.md`. */
export interface Description {
  readonly description: string
  readonly unit?: string
  /** The value if the file has no such key. Absent: the key is required, or is a section. */
  readonly defaultValue?: unknown
}

export function setting<T extends z.ZodType>(kind: T, defaultValue: z.output<T>, description: string, unit = '') {
  return kind.default(defaultValue as never).meta({ description, unit, defaultValue } satisfies Description)
}

export function required<T extends z.ZodType>(kind: T, description: string) {
  return kind.meta({ description } satisfies Description)
}

export function optional<T extends z.ZodType>(kind: T, description: string) {
  return kind.optional().meta({ description, defaultValue: null } satisfies Description)
}

/** A section in which every key has a default, so that the file may omit it. */
export function section<T extends z.ZodRawShape>(shape: T, description: string) {
  return keys(shape)
    .prefault({} as never)
    .meta({ description } satisfies Description)
}
