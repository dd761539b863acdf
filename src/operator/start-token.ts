/**
 * The token that a start at a terminal prints, for the page of a gateway that has nothing but its own sandbox
 * (docs/contract-operators.md §15). Only the memory of this process has it.
 */
import { randomBytes } from 'node:crypto'
import type { Config } from '../config/index.ts'
import { isLoopback } from '../domain/network-address.ts'
import type { OperatorToken } from '../domain/operator-role.ts'

/** The actor in the audit log. */
const name = 'start'
/** Whoever searches texts for secrets finds it by this. */
const prefix = 'sg_start_'

export class StartToken {
  private readonly file: () => Config
  private readonly sandboxUrl: string | undefined
  private token: string | undefined

  /** `file`: the configuration file in force. `sandboxUrl`: of the sandbox of this process. */
  constructor(file: () => Config, sandboxUrl: string | undefined) {
    this.file = file
    this.sandboxUrl = sandboxUrl
  }

  /** From now on it is valid, with every role. Undefined where the file in force allows none. */
  make(): string | undefined {
    if (!this.isAllowed()) return undefined
    this.token = prefix + randomBytes(24).toString('base64url')
    return this.token
  }

  /** All tokens of operators: as soon as another file is in force, that decides. */
  all(): Readonly<Record<string, OperatorToken>> {
    return this.token !== undefined && this.isAllowed() ? { [name]: this.token } : this.file().admin.tokens
  }

  /** After a reload: a token that the file does not allow ends for good. Whether one did. */
  endUnlessAllowed(): boolean {
    if (this.token === undefined || this.isAllowed()) return false
    this.token = undefined
    return true
  }

  private isAllowed(): boolean {
    const { admin, providers } = this.file()
    return Object.keys(admin.tokens).length === 0 && isLoopback(admin.host) && isSandboxAlone(providers, this.sandboxUrl)
  }
}

/** Whether every provider is the sandbox of this process, also those that are off. */
export function isSandboxAlone(providers: Config['providers'], sandboxUrl: string | undefined): boolean {
  return sandboxUrl !== undefined && providers.every(({ url }) => new URL(url).origin === sandboxUrl)
}

/** How an operator gets a token where the start makes none. */
export const tokenHelp: readonly string[] = [
  "The operator's page is off: admin.tokens is empty. Beside the configuration file: (umask 077; openssl rand -hex 24 > operator-token)",
  `Then in it: admin: { tokens: { operator: "\${file:operator-token}" } }`,
]
