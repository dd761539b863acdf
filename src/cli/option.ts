/** commander: options that several commands share. */
import { InvalidArgumentError } from 'commander'
import { packagedConfigFile } from '../config/index.ts'

export interface Options {
  readonly config?: string
  readonly json?: boolean
}

export const configOption = ['--config <file>', 'configuration file (default: $SWAPGATE_CONFIG or config/gateway.yaml)'] as const
export const durations = 'like 30m, 24h or 90d, or a number of seconds'
export const jsonOption = ['--json', 'print one JSON document'] as const

/** Warns if the packaged configuration is used because the user has none. */
export function fileWarnings(file: string): readonly string[] {
  return file === packagedConfigFile ? [`there is no config/gateway.yaml here: using the packaged configuration, ${file}`] : []
}

/** Makes a parser of an option's value. If `parse` returns undefined, the usage is wrong (exit code 2). */
export function parsedBy<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${what}.`)
    return value
  }
}
