/** The gateway as `npm start` starts it, on free ports, with a faster sandbox and shorter limits. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../container/ports.ts'
import { Swapgate } from '../process/swapgate.ts'

export interface DefaultGateway extends AsyncDisposable {
  readonly gateway: string
  readonly sandbox: string
}

const limits = { quotes: 20, create: 30, read: 120, window: 2 }

export async function startDefaultGateway(): Promise<DefaultGateway> {
  const { gateway, sandbox, move } = await freePorts()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-examples-'))
  const text = readFileSync('config/gateway.yaml', 'utf8')
    .replace(/^limits:.*$/m, `limits: ${JSON.stringify(limits)}`)
    .replace('  port: 9101\n', '  port: 9101\n  speed: 0.2\n')
  writeFileSync(join(directory, 'gateway.yaml'), move(text))
  copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
  const env = { LEDGER_URL: `sqlite:${join(directory, 'ledger.db')}` }
  const process = new Swapgate(['start', '--config', join(directory, 'gateway.yaml')], { cwd: directory, env })
  await process.urls()
  return {
    gateway: `http://127.0.0.1:${gateway}`,
    sandbox: `http://127.0.0.1:${sandbox}`,
    async [Symbol.asyncDispose]() {
      await process[Symbol.asyncDispose]()
      rmSync(directory, { recursive: true })
    },
  }
}
