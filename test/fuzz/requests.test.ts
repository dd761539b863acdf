// Takes long: `SWAPGATE_FUZZ` sets the seconds.
/** For any bytes of a client, the gateway responds in a form, an error has its reason, and none is 500. */
import { connect } from 'node:net'
import * as fc from 'fast-check'
import { test as base, expect } from 'vitest'
import { type ProviderA, startFormA } from '../support/form-a.ts'
import { type StartedGateway, startGateway } from '../support/gateway.ts'
import { swap } from '../support/swaps.ts'
import { expectInForm } from './received.ts'
import { fuzzedBodies, fuzzedHeads, fuzzedTargets } from './request-texts.ts'
import { type Series, seriesOf } from './series.ts'
import { fuzz, timeout } from './watch.ts'

interface Rig {
  readonly provider: ProviderA
  readonly gateway: StartedGateway
  readonly series: Series
}

/** Each test has a gateway of its own: they mostly wait, and so they run side by side. */
const test = base.extend<{ rig: Rig }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest reads the fixtures that are used from the pattern.
  rig: async ({}, use) => {
    const provider = await startFormA()
    provider.holdings.swaps = [swap()]
    const gateway = await startGateway({ provider: { form: 'A', url: provider.url, timeout: 1 } })
    await use({ provider, gateway, series: seriesOf(gateway) })
    await gateway.close()
    await provider.close()
  },
})

/** What comes back until the connection ends, or for a moment. */
async function exchange(text: string, { port }: StartedGateway): Promise<string> {
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  socket.on('data', (chunk) => chunks.push(Buffer.from(chunk)))
  socket.on('error', () => {})
  const closed = new Promise((resolve) => socket.on('close', resolve))
  socket.write(Buffer.from(text, 'latin1'))
  const timer = setTimeout(() => socket.destroy(), 300)
  await closed
  clearTimeout(timer)
  return Buffer.concat(chunks).toString('latin1')
}

/** Several at a time, since an unfinished request is waited for. */
async function expectResponses(texts: readonly string[], { gateway, series, provider }: Rig): Promise<void> {
  const responses = await Promise.all(texts.map((text) => exchange(text, gateway)))
  for (const [at, response] of responses.entries()) expectInForm(response, texts[at] ?? '')
  series.count()
  forgetRequests(provider)
}

/** What the stand-in keeps is not what is looked at, and would grow with every run. */
function forgetRequests({ holdings, journal, recorder }: ProviderA): void {
  journal.length = 0
  holdings.removed = (holdings.removed ?? 0) + holdings.swaps.length
  holdings.swaps = [swap()]
  recorder.forget()
}

/** More than all combinations of the labels' closed lists that these requests reach. */
const maxSeries = 4_000

async function fuzzRequests(requests: fc.Arbitrary<string[]>, rig: Rig): Promise<void> {
  await fuzz(requests, (texts) => expectResponses(texts, rig))
  const number = await rig.series.number()
  console.info({ series: number })
  expect(number).toBeLessThan(maxSeries)
}

const batch = <Value>(arbitrary: fc.Arbitrary<Value>): fc.Arbitrary<Value[]> => fc.array(arbitrary, { minLength: 1, maxLength: 24 })

test.concurrent('V26: heads', { timeout }, async ({ rig }) => {
  await fuzzRequests(batch(fuzzedHeads), rig)
})

test.concurrent('V26: bodies', { timeout }, async ({ rig }) => {
  await fuzzRequests(batch(fuzzedBodies), rig)
})

test.concurrent('V26: queries and paths', { timeout }, async ({ rig }) => {
  await fuzzRequests(batch(fuzzedTargets), rig)
})
