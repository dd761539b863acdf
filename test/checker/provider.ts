/**
 * A provider of Form A or Form B, written from `docs/service.md` alone, that fails on command. In this process, or as a
 * process of its own: `node test/checker/provider.ts --form B --name beta --key secret --journal file [--port 0]`.
 */
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import type { Swap } from './order.ts'
import { controlServer } from './provider/control.ts'
import { type Fault, Faults } from './provider/fault.ts'
import { formA } from './provider/form-a.ts'
import { formB } from './provider/form-b.ts'
import { Holdings } from './provider/holdings.ts'
import { base, providerServer } from './provider/server.ts'

export interface ProviderSettings {
  readonly form: 'A' | 'B'
  /** Of a-z and 0-9. */
  readonly name: string
  readonly keys: readonly string[]
  /** The file; it is appended to. */
  readonly journal: string
  /** Default: any free one. */
  readonly port?: number
}

export interface Provider extends AsyncDisposable {
  readonly settings: ProviderSettings
  /** With the base path. */
  readonly url: string
  readonly fault: (fault: Fault) => Promise<void>
  /** No more faults, and responses that are held are sent. */
  readonly heal: () => Promise<void>
  /** Gives the swap with this id other facts, such as a status. */
  readonly change: (id: string, facts: Partial<Swap>) => Promise<void>
}

export async function startProvider(settings: ProviderSettings): Promise<Provider> {
  const { name, keys, journal, port = 0 } = settings
  appendFileSync(journal, '')
  const holdings = new Holdings(name)
  const faults = new Faults()
  const form = settings.form === 'A' ? formA : formB
  const server = providerServer({ form, keys, holdings, faults, journal }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  return {
    settings,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}${base}`,
    fault: async (fault) => faults.add(fault),
    heal: async () => faults.clear(),
    change: async (id, facts) => holdings.change(id, facts),
    async [Symbol.asyncDispose]() {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
}

/** Prints `{"url","control"}` once it listens, and ends with its standard input, so that it never outlives its parent. */
async function run(): Promise<void> {
  const text = { type: 'string' } as const
  const options = { form: text, name: text, key: { ...text, multiple: true }, journal: text, port: text } as const
  const { form, name = 'alpha', key: keys = [], journal = '', port = '0' } = parseArgs({ options }).values
  if ((form !== 'A' && form !== 'B') || journal === '') throw new Error('give --form A or --form B, and --journal')
  const provider = await startProvider({ form, name, keys, journal, port: Number(port) })
  const control = controlServer(provider).listen(0, '127.0.0.1')
  await once(control, 'listening')
  console.log(JSON.stringify({ url: provider.url, control: `http://127.0.0.1:${(control.address() as AddressInfo).port}` }))
  process.stdin.resume().on('end', () => process.exit())
}

if (import.meta.main) await run()
