/** What a power cut would lose, from the system calls of a gateway with a SQLite ledger. */
import { afterEach, expect, test } from 'vitest'
import { type LedgerRig, startLedgerRig } from '../support/ledger-rig.ts'
import { canTrace, trace } from '../support/strace.ts'

let rig: LedgerRig
afterEach(() => rig[Symbol.asyncDispose]())

const without = canTrace ? '' : ' (left out: strace is not here, or may not trace)'

test.runIf(canTrace)(
  `L14: the intent is flushed before the POST, its result before the response${without}`,
  { timeout: 60_000 },
  async () => {
    rig = await startLedgerRig()
    const { gateway, customer, order, file } = rig
    const first = await customer.create(gateway.url, order())
    expect(first?.status).toBe(201)
    const tracing = await trace(rig.directory)
    for (let at = 0; at < 3; at++)
      expect((await customer.create(gateway.url, order(), { idempotencyKey: `order-${at}` }))?.status).toBe(201)
    const calls = await tracing.stop()
    expect(await rig.violations()).toEqual([])
    const isFlush = (call: string): boolean => /\b(?:fsync|fdatasync)\(/.test(call) && call.includes(`${file}-wal`)
    const isChange = (call: string): boolean => /\bp?write(?:v|64|v2)?\(/.test(call) && call.includes(`${file}-wal`)
    const steps = calls.flatMap((call) => {
      if (isFlush(call)) return ['flush']
      if (isChange(call)) return ['change']
      if (/"POST [^"]*\/transactions/.test(call)) return ['send']
      return /"HTTP\/1\.1 201/.test(call) ? ['response'] : []
    })
    // Changes get their numbers in commits of their own, at any time: the last one may end after the trace.
    const once = '(?:change flush )+send (?:change flush )+response '
    expect(`${withoutRepeats(steps).join(' ')} `).toMatch(new RegExp(`^${once}${once}${once}(?:change flush )*(?:change )?$`))
  },
)

function withoutRepeats(steps: readonly string[]): readonly string[] {
  return steps.filter((step, at) => step !== steps[at - 1])
}
