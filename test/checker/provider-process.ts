/** A provider in a process of its own. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { controls } from './provider/control.ts'
import type { Provider, ProviderSettings } from './provider.ts'

const program = fileURLToPath(new URL('provider.ts', import.meta.url))

export async function spawnProvider(settings: ProviderSettings): Promise<Provider> {
  const { form, name, keys, journal, port = 0 } = settings
  const args = [
    '--form',
    form,
    '--name',
    name,
    '--journal',
    journal,
    '--port',
    String(port),
    ...keys.flatMap((key) => ['--key', key]),
  ]
  const child = spawn(process.execPath, [program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
  const ended = once(child, 'close')
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  if (typeof line !== 'string') throw new Error(`the provider ended with ${line}`)
  const { url, control } = JSON.parse(line) as { url: string; control: string }
  return {
    settings,
    url,
    ...controls(control),
    async [Symbol.asyncDispose]() {
      child.stdin.end()
      await ended
    },
  }
}
