/** A directory with a configuration and a ledger of its own, and the commands run in this process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from '../../src/ledger/index.ts'
import { type CommandResult, type Loss, runCommand } from '../support/command.ts'

const assets = `
- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }
- { coin: ETH, name: Ethereum, networks: [ { network: ETH, code: ETH } ] }
- { coin: USDT, name: Tether, networks: [ { network: TRX, code: USDTTRC20 }, { network: ETH, code: USDTERC20 } ] }
`
const nowhere = [{ url: 'http://127.0.0.1:1/api/v2' }, { url: 'http://127.0.0.1:1/api/v2' }]

/** With the gateway's own keys where its providers are there. */
function providersAt(providers: PlaceOptions['providers']): string {
  const [alpha, beta] = providers ?? nowhere
  const facts = (form: string, url = ''): string => JSON.stringify({ form, url, ...(providers && { key: 'provider-key-1' }) })
  const mode = providers ? 'auth: { mode: managed }' : ''
  return `providers: { alpha: ${facts('A', alpha?.url)}, beta: ${facts('B', beta?.url)} }
routing: { providers: [alpha] }
${mode}
`
}

interface PlaceOptions {
  readonly ledgerUrl?: string
  /** One of form A, one of form B. */
  readonly providers?: readonly { readonly url: string }[]
}

export class Place implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-cli-'))
  readonly file = join(this.directory, 'gateway.yaml')
  readonly ledgerUrl: string

  constructor({ ledgerUrl, providers }: PlaceOptions = {}) {
    this.ledgerUrl = ledgerUrl ?? `sqlite:${join(this.directory, 'ledger.db')}`
    this.write(providersAt(providers))
    writeFileSync(join(this.directory, 'assets.yaml'), assets)
  }

  /** `sections` in place of the providers that it began with. */
  write(sections: string): void {
    writeFileSync(this.file, `${sections}ledger: { url: "${this.ledgerUrl}" }\n`)
  }

  swapgate(...args: readonly string[]): Promise<CommandResult> {
    return runCommand([...args, '--config', this.file])
  }

  /** The same, with an output that is lost. */
  swapgateLosing(lost: Loss, ...args: readonly string[]): Promise<CommandResult> {
    return runCommand([...args, '--config', this.file], [], lost)
  }

  /** What a command prints with `--json`. Throws where it is not one document, or the command did not end with 0. */
  async facts<T>(...args: readonly string[]): Promise<T> {
    const { exitCode, out, err } = await this.swapgate(...args, '--json')
    if (exitCode !== 0) throw new Error(err.join('\n'))
    return JSON.parse(out.join('\n'))
  }

  stores(): ReturnType<typeof openLedger> {
    return openLedger(this.ledgerUrl)
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true })
  }
}
