/**
 * How long a turn of a gateway's event loop keeps the processor, from the end of one to the end of the next: CPU time of its main thread,
 * so that other programs do not count. The immediates do not keep the loop from waiting.
 */
import { expect } from 'vitest'
import type { Swapgate } from '../process/swapgate.ts'
import { ownLoad } from '../support/own-load.ts'

const preload = `
let longestMs = 0
let before = process.threadCpuUsage()
const endTurn = () => {
  const { user, system } = process.threadCpuUsage(before)
  longestMs = Math.max(longestMs, (user + system) / 1000)
  before = process.threadCpuUsage()
  setImmediate(endTurn).unref()
}
endTurn()
process.on('SIGUSR2', () => setImmediate(() => {
  process.stderr.write(JSON.stringify({ level: 'info', longestTurnMs: longestMs }) + '\\n')
  longestMs = 0
}))`

/** `NODE_OPTIONS` of a gateway whose turns are measured. */
export const withProbe = `${ownLoad} --import=data:text/javascript,${encodeURIComponent(preload)}`

/** The longest turn, in milliseconds, since it was asked for the last time. */
export async function longestTurnMs(gateway: Swapgate): Promise<number> {
  const reports = () => [...gateway.outputText().matchAll(/"longestTurnMs":([\d.]+)/g)]
  const before = reports().length
  gateway.child.kill('SIGUSR2')
  await expect.poll(() => reports().length).toBeGreaterThan(before)
  return Number(reports().at(-1)?.[1])
}
