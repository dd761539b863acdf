import { hostname, userInfo } from 'node:os'

/** Who runs this command, for the audit log: the system's user here. */
export function cliActor(): string {
  return `cli:${userName()}@${hostname()}`
}

/** A user that the system has no name for is told by number. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
