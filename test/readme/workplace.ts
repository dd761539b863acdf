/** A directory with a copy of the default configuration, on free ports, and with a ledger of its own. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../container/ports.ts'
import { Swapgate } from '../process/swapgate.ts'
import { type Step, take } from './tour.ts'

export interface Choice {
  /** Stands in front. */
  readonly provider?: string
  readonly mode?: string
}

export async function workplace({ provider = 'alpha', mode = 'passthrough' }: Choice) {
  const ports = await freePorts()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
  const file = join(directory, 'gateway.yaml')
  const standard = readFileSync('config/gateway.yaml', 'utf8')
  const chosen = standard.replace('providers: [alpha]', `providers: [${provider}]`).replace('mode: passthrough', `mode: ${mode}`)
  writeFileSync(file, ports.move(chosen))
  copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
  const env = {
    LEDGER_URL: `sqlite:${join(directory, 'ledger.db')}`,
    ...(mode === 'managed' && { ALPHA_KEY: 'sandbox-key-1', BETA_KEY: 'sandbox-key-2' }),
  }
  const move = (text: string): string => ports.move(text).replaceAll(`config/${mode}.yaml`, file)
  return {
    move,
    /** What each step prints while the gateway runs. */
    async take(steps: readonly Step[]): Promise<readonly string[]> {
      await using swapgate = new Swapgate(['start', '--config', file], { cwd: directory, env })
      await swapgate.urls()
      return await take(steps, move, env)
    },
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}
