/** docs/contract.md §11: a long response streams, however slowly it is taken: what is not taken stays at the provider. */
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ConfigDirectory, Swapgate } from '../process/swapgate.ts'
import { commandOver } from '../support/command.ts'
import { startNativeProvider } from './provider.ts'
import { providerKey } from './rig.ts'

const mebibyte = 1_048_576
const total = 50
const chunk = Buffer.alloc(mebibyte, 'abcdefghijklmnopqrstuvwxyz012345')

test.each([
  ['fast', 0],
  ['slow', 10],
])(
  'N20: of a response of 50 MB that a %s client takes less than 20 MB are on their way',
  { timeout: 120_000 },
  async (_, pauseMs) => {
    using directory = new ConfigDirectory()
    const provider = await startNativeProvider()
    let sent = 0
    provider.respond = async (response) => {
      for (; sent < total; sent++) if (!response.write(chunk)) await once(response, 'drain')
      response.end()
    }
    const file = directory.write(
      JSON.stringify({
        server: { port: 0, shutdownDelay: 0 },
        admin: { port: 0 },
        auth: { mode: 'managed' },
        ledger: { url: `sqlite:${join(directory.path, 'ledger.db')}` },
        providers: { alpha: { form: 'A', url: provider.url, key: providerKey, native: ['GET /dump', 'GET /small'] } },
        routing: { providers: ['alpha'] },
      }),
    )
    const { key } = (await commandOver(file, ['keys', 'create', '--name', 'acme'])) as { readonly key: string }
    await using gateway = new Swapgate(['start', '--config', file])
    const url = (await gateway.urls()).get('gateway') as string
    const dump = async (): Promise<{ length: number; hash: string; most: number }> => {
      const [response] = (await once(
        get(`${url}/native/alpha/dump`, { headers: { authorization: `Bearer ${key}` } }),
        'response',
      )) as [IncomingMessage]
      const hash = createHash('sha256')
      let [length, most] = [0, 0]
      for await (const bytes of response) {
        length += bytes.length
        hash.update(bytes)
        most = Math.max(most, sent - length / mebibyte)
        if (pauseMs > 0 && length % 16 === 0) await wait(pauseMs)
      }
      return { length, hash: hash.digest('hex'), most }
    }
    const { length, hash, most } = await dump()
    const expected = createHash('sha256')
    for (let at = 0; at < total; at++) expected.update(chunk)
    expect([length, hash]).toEqual([total * mebibyte, expected.digest('hex')])
    console.info(`50 MB through the native lane: ${most.toFixed(1)} MB on their way`)
    expect(most).toBeLessThan(20)
    await provider.close()
  },
)
