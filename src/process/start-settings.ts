/** What only a start reads: sockets and stores are opened once (docs/contract-operators.md §13). */
import type { Config } from '../config/index.ts'

export type StartSettings = ReturnType<typeof startSettings>

/** Tokens of operators, what their page keeps, and times of the ledger are read with each use. */
export function startSettings({ server, admin, redis, ledger, replicas, telemetry, sandbox }: Config) {
  const { tokens: _, keepSession: __, ...adminPort } = admin
  const { url, mustExist, migrate, maxConnections } = ledger
  return { server, admin: adminPort, redis, ledger: { url, mustExist, migrate, maxConnections }, replicas, telemetry, sandbox }
}

/** The sections in which the new configuration differs and that stay as they were until the process is started again. */
export function needsRestart(before: Config, after: Config): readonly string[] {
  const [started, next] = [startSettings(before), startSettings(after)]
  const sections = Object.keys(started) as readonly (keyof typeof started)[]
  return sections.filter((section) => JSON.stringify(started[section]) !== JSON.stringify(next[section]))
}

/** The configuration for a process that joins those that were started with these settings. */
export function withStartSettings(config: Config, started: StartSettings): Config {
  return { ...config, ...started, admin: config.admin, ledger: { ...config.ledger, ...started.ledger } }
}
