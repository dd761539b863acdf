import { hostname, userInfo } from 'node:os'

/** The actor of this command in the audit log: `cli:<system user>@<host>`. */
export function cliActor(): string {
  return `cli:${userName()}@${hostname()}`
}

/** The name of the system's user, or its number if it has no name. */
function userName(): string {
  try {
    return userInfo().username
  } catch {
    return String(process.getuid?.() ?? 'unknown')
  }
}
