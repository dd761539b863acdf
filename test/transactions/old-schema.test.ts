/** docs/ledger.md, upgrades: reads with the provider's own keys on a ledger without the table of what is withheld. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { undoSteps } from '../ledger/raw.ts'
import { sendRequest } from '../support/client.ts'
import { startFormA } from '../support/form-a.ts'
import { InProcessGateway } from '../support/in-process-gateway.ts'
import { depositOf, swap } from '../support/swaps.ts'

test("with the provider's own keys a swap that the ledger lacks is read on the schema before", async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-old-schema-'))
  onTestFinished(() => rmSync(directory, { recursive: true }))
  const alpha = await startFormA()
  onTestFinished(() => alpha.close())
  alpha.holdings.swaps = [swap()]
  const url = `sqlite:${join(directory, 'ledger.db')}`
  const settings = { directory, mode: 'passthrough' as const, providers: { alpha: { form: 'A' as const, url: alpha.url } } }
  const first = await InProcessGateway.start({ ...settings, sections: { ledger: { url } } })
  await first[Symbol.asyncDispose]()
  await undoSteps(url)
  const gateway = await InProcessGateway.start({ ...settings, sections: { ledger: { url, migrate: 'manual' } } })
  onTestFinished(() => gateway[Symbol.asyncDispose]())
  const get = (path: string) =>
    sendRequest(gateway.url, { path: `/a/api/v2/transactions${path}`, headers: { authorization: 'Bearer some-key-1234567' } })
  for (const path of ['/alpha~tx-1', '']) {
    const read = await get(path)
    expect([read.status, read.text, read.headers['x-swap-warning']]).toEqual([
      200,
      expect.stringContaining(depositOf('tx-1')),
      undefined,
    ])
  }
})
