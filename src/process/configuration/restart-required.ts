import type { Config } from '../../config/index.ts'

/** Sections that only a start reads: sockets and stores are opened once. */
const sections = ['server', 'admin', 'redis', 'ledger', 'telemetry', 'sandbox'] as const

/** The sections in which the new configuration differs and that stay as they were until the process is started again. */
export function needsRestart(before: Config, after: Config): readonly string[] {
  return sections.filter((section) => startSettings(before, section) !== startSettings(after, section))
}

/** Tokens of operators are read with each request. */
function startSettings(config: Config, section: (typeof sections)[number]): string {
  return JSON.stringify({ ...config[section], tokens: undefined })
}
