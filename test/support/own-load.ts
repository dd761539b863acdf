/**
 * Part of a gateway's measurement of its own load is how late a timer fires. The preload leaves out how long the processor was busy
 * with other programs. So a gateway under test sheds load if it is busy, and not because other tests are.
 */
const preload = `
const { setInterval: startInterval } = globalThis
// Of the measurement alone (src/adapters/http/load.ts).
const intervalMs = 50
const withOwnDelay = (callback) => {
  let at = performance.now()
  let shownMs = at
  let cpu = process.cpuUsage()
  return () => {
    const { user, system } = process.cpuUsage(cpu)
    const elapsedMs = performance.now() - at
    shownMs += Math.min(elapsedMs, intervalMs + (user + system) / 1000)
    at += elapsedMs
    cpu = process.cpuUsage()
    const { now } = performance
    performance.now = () => shownMs
    callback()
    performance.now = now
  }
}
globalThis.setInterval = Object.assign(
  (callback, ms, ...rest) => startInterval(ms === intervalMs ? withOwnDelay(callback) : callback, ms, ...rest),
  startInterval,
)`

/** `NODE_OPTIONS` of a gateway that a test starts. */
export const ownLoad = `--import=data:text/javascript,${encodeURIComponent(preload)}`
