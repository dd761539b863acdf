/** Access of a test to a gateway that runs from a configuration file, in any process. */
import { commandOver } from './command.ts'
import { recordOutput } from './leak-check.ts'

export abstract class GatewayAccess {
  /** Without a mount. */
  abstract readonly url: string
  /** Where `/metrics` is. */
  abstract readonly adminUrl: string
  /** All that it printed and logged. */
  abstract readonly output: string
  /** Its configuration. */
  readonly file: string

  constructor(file: string) {
    this.file = file
  }

  /** What the admin port returns to Prometheus, in the requested format. */
  async metrics(accept = 'text/plain'): Promise<string> {
    const printed = await (await fetch(`${this.adminUrl}/metrics`, { headers: { accept } })).text()
    recordOutput('metrics', printed)
    return printed
  }

  /** A command of `swapgate` over the same configuration, and the JSON document that it prints. */
  command(...args: readonly string[]): Promise<unknown> {
    return commandOver(this.file, args)
  }

  /** A new key for the account, which is made if it is new. */
  async createKey(account: string): Promise<string> {
    const { key } = (await this.command('keys', 'create', '--name', account)) as { readonly key: string }
    return key
  }
}
