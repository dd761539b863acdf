/** commander: what several commands take. */
import { InvalidArgumentError } from 'commander'
import { packagedConfigFile } from '../config/index.ts'

export interface Options {
  readonly config?: string
  readonly json?: boolean
}

export const configOption = ['--config <file>', 'configuration file (default: $SWAPGATE_CONFIG or config/gateway.yaml)'] as const
export const durations = 'like 30m, 24h or 90d, or a number of seconds'
export const jsonOption = ['--json', 'print one JSON document'] as const

/** What a user should know of the file that is taken: nothing, where he has named it or it is his. */
export function fileWarnings(file: string): readonly string[] {
  return file === packagedConfigFile
    ? [`there is no config/gateway.yaml here: this is the configuration that comes along, ${file}`]
    : []
}

/** Takes what `read` can read; all else is wrong usage. */
export function parsedBy<T>(parse: (text: string) => T | undefined, what: string): (text: string) => T {
  return (text) => {
    const value = parse(text)
    if (value === undefined) throw new InvalidArgumentError(`It must be ${what}.`)
    return value
  }
}
