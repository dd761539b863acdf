/** Bounds of times are for a machine that does a fixed piece of work in ten milliseconds of the processor. */
const usualMs = 10
const rounds = 11

/** How many times longer this machine takes for it, by the median; at least 1. */
export function slowness(): number {
  const times = Array.from({ length: rounds }, workMs).toSorted((a, b) => a - b)
  return Math.max(1, (times[Math.floor(rounds / 2)] ?? 0) / usualMs)
}

/** Rows are made, written, read and sorted, as a gateway does it. */
function workMs(): number {
  const before = process.threadCpuUsage()
  const rows = Array.from({ length: 20_000 }, (_, n) => ({ id: `tx-${n}`, at: (n * 7_919) % 20_011, status: 'wait' }))
  const read = JSON.parse(JSON.stringify(rows)) as typeof rows
  read.sort((a, b) => a.at - b.at)
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}
