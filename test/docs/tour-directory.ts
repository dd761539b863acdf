/** A directory with the configuration of `docs/tour.md`, on free ports, and with a ledger of its own. */
import { execFileSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePorts } from '../container/ports.ts'
import { Swapgate } from '../process/swapgate.ts'
import { type Step, take } from './tour.ts'

const standard = 'config/gateway.yaml'

/** `name`: of the file that the tour makes of the default configuration. */
export async function tourDirectory(name: string) {
  const ports = await freePorts()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
  const file = join(directory, `${name}.yaml`)
  writeFileSync(file, ports.move(edited(name)))
  copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
  const keys = { ALPHA_KEY: 'sandbox-key-1', BETA_KEY: 'sandbox-key-2' }
  const env = { ...keys, LEDGER_URL: `sqlite:${join(directory, 'ledger.db')}` }
  const move = (text: string): string => ports.move(text).replaceAll(`config/${name}.yaml`, file)
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

/** The default configuration after the `sed` that the tour shows. */
function edited(name: string): string {
  const commands = readFileSync('docs/tour.md', 'utf8').matchAll(/^sed '(.+)' config\/gateway\.yaml > config\/(\w+)\.yaml$/gm)
  const [, edit = ''] = [...commands].find(([, , made]) => made === name) ?? []
  return execFileSync('sed', [edit, standard], { encoding: 'utf8' })
}
