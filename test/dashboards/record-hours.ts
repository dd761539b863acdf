/**
 * Records what takes hours, as `record.ts` does the rest: the alerts whose windows are hours and days. The clean traffic and the faults
 * are real, three minutes of them, and each scrape counts as longer than it was: every sample is one that a gateway printed, each share of
 * requests is that of the recording, and only the pace is slower.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import buildBundle from '../support/bundle.ts'
import { sendRequest } from '../support/client.ts'
import { assets } from '../support/swaps.ts'
import { type Lift, repeating, together } from './event.ts'
import { writeCase } from './recorded-case.ts'
import { Recorder } from './recorder.ts'
import { type Site, startSite } from './world.ts'

interface Fault {
  readonly alert: string
  /** Of its gateway. */
  readonly name: string
  readonly cause: (site: Site) => Promise<Lift>
}

/** How a part of the faults is recorded. */
interface Pace {
  readonly recorder: Recorder
  readonly tickMs: number
  readonly cleanTicks: number
  readonly faultyTicks: number
  readonly faults: readonly Fault[]
}

let orders = 0
const order = () => ({
  from: assets.xrp,
  to: assets.usdtEth,
  amount: `1.${++orders}`,
  withdrawalAddress: `0xWithdraw${orders}`,
  rateType: 'float' as const,
})
const quote = ({ gateway }: Site, amount = `2.${++orders}`) =>
  sendRequest(gateway.url, { path: `/a/api/v2/rate?coinFrom=XRP&coinTo=USDTERC20&amount=${amount}` })

/** Keeps the ledger locked for so long, again and again, while so many creates wait for it. */
async function lockedLedger({ directory, gateway, customers: [acme] }: Site, lockedMs: number, creates: number): Promise<Lift> {
  const other = new DatabaseSync(join(directory, 'ledger.db'), { timeout: 5_000 })
  const lift = repeating(200, async () => {
    other.exec('BEGIN IMMEDIATE')
    const waiting = together(creates, () => acme.create(gateway.url, order()))
    await delay(lockedMs)
    other.exec('COMMIT')
    await waiting
  })
  return async () => {
    await lift()
    other.close()
  }
}

const paces: readonly Pace[] = [
  // A day: twelve hours are clean, and eight are not.
  {
    recorder: new Recorder(120),
    tickMs: 250,
    cleanTicks: 360,
    faultyTicks: 240,
    faults: [
      {
        alert: 'SwapgateAvailabilityBurnSlow',
        name: 'failing',
        async cause(site) {
          return repeating(1_000, async () => {
            const amount = `3.${++orders}`
            // A read is sent twice: both fail.
            await site.provider.fault({ operation: 'rate', having: amount, before: 500, times: 2 })
            await quote(site, amount)
          })
        },
      },
      {
        alert: 'SwapgateAddedLatencyBurnSlow',
        name: 'locked',
        cause: (site) => lockedLedger(site, 300, 4),
      },
    ],
  },
  // Two hours, almost all of them faulty.
  {
    recorder: new Recorder(30),
    tickMs: 1_000,
    cleanTicks: 20,
    faultyTicks: 210,
    faults: [
      {
        alert: 'SwapgateAddedLatencyBurnFast',
        name: 'much-locked',
        cause: (site) => lockedLedger(site, 1_500, 20),
      },
      {
        alert: 'SwapgateTotalLatencyBurn',
        name: 'slow-provider',
        async cause({ provider }) {
          await provider.fault({ operation: 'rate', delay: 3_000, times: 100_000 })
          return () => provider.heal()
        },
      },
    ],
  },
]

const removeBundle = await buildBundle()
{
  await using open = new AsyncDisposableStack()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-record-'))
  open.defer(async () => rmSync(directory, { recursive: true }))
  const record = async ({ recorder, tickMs, cleanTicks, faultyTicks, faults }: Pace): Promise<void> => {
    const ticks = async (count: number): Promise<void> => {
      for (let left = count; left > 0; left--) {
        const next = performance.now() + tickMs
        await recorder.next()
        await delay(Math.max(0, next - performance.now()))
      }
    }
    const lifts: Lift[] = []
    const sites: Site[] = []
    for (const { name } of faults) {
      const site = await startSite(directory, { name: name.replace('-', ''), form: 'B' }, open)
      recorder.add(name, site.gateway.adminUrl)
      sites.push(site)
      // Slow answers must not make it slower.
      for (let client = 0; client < 4; client++) lifts.push(repeating(200, () => quote(site)))
    }
    await delay(10_000) // the code is warm
    await ticks(cleanTicks)
    const faultAt = recorder.tick
    lifts.push(...(await Promise.all(faults.map(({ cause }, at) => cause(sites[at] as Site)))))
    await ticks(faultyTicks)
    await Promise.all(lifts.map((lift) => lift()))
    for (const { alert, name } of faults)
      await writeCase(alert, recorder, { from: 0, to: recorder.tick, instances: [name], faultAt })
  }
  await Promise.all(paces.map(record))
}
removeBundle?.()
process.exit()
