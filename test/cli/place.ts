/** A directory with a configuration and a ledger of its own, and the commands run in this process. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openLedger } from '../../src/adapters/ledger.ts'
import { run } from '../../src/cli/command.ts'

const assets = '- { coin: BTC, name: Bitcoin, networks: [ { network: BTC, code: BTC } ] }'
const providers = `providers:
  alpha: { form: A, url: "http://127.0.0.1:1/api/v2" }
  beta: { form: B, url: "http://127.0.0.1:1/api/v2" }
routing: { providers: [alpha] }
`

export interface Said {
  readonly exitCode: number
  readonly out: readonly string[]
  readonly err: readonly string[]
}

export class Place implements Disposable {
  readonly directory = mkdtempSync(join(tmpdir(), 'swapgate-cli-'))
  readonly file = join(this.directory, 'gateway.yaml')
  readonly ledgerUrl: string

  constructor(ledgerUrl?: string) {
    this.ledgerUrl = ledgerUrl ?? `sqlite:${join(this.directory, 'ledger.db')}`
    writeFileSync(this.file, `${providers}ledger: { url: "${this.ledgerUrl}" }\n`)
    writeFileSync(join(this.directory, 'assets.yaml'), assets)
  }

  async swapgate(...args: readonly string[]): Promise<Said> {
    const out: string[] = []
    const err: string[] = []
    const stream = async (lines: AsyncIterable<string>): Promise<void> => {
      for await (const line of lines) out.push(line)
    }
    const terminal = { out: (line: string) => out.push(line), err: (line: string) => err.push(line), stream }
    return { exitCode: await run([...args, '--config', this.file], terminal), out, err }
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
