/**
 * Latency at a fixed rate. Each request has its time of sending before the run begins, and its latency counts from there: a gateway
 * that stalls is charged for the requests that would have been sent meanwhile (coordinated omission).
 */
import { Agent, get } from 'node:http'
import { authorization, path } from './rig.ts'

export interface Latency {
  /** Milliseconds. */
  readonly p50: number
  readonly p99: number
}

/** `requestPath` is that of the request at this port. */
export async function latencyAt(port: number, requestPath: string, perSecond: number, seconds: number): Promise<Latency> {
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const startedAt = performance.now()
  const sendings: Promise<number>[] = []
  await new Promise<void>((resolve) => {
    const timer = setInterval(() => {
      const now = performance.now()
      for (;;) {
        const dueAt = startedAt + (sendings.length * 1000) / perSecond
        if (dueAt > now) break
        sendings.push(sendAt(dueAt))
      }
      if (now - startedAt < seconds * 1000) return
      clearInterval(timer)
      resolve()
    }, 1)
  })
  const times = (await Promise.all(sendings)).toSorted((one, other) => one - other)
  agent.destroy()
  return { p50: at(0.5), p99: at(0.99) }

  function at(share: number): number {
    return times[Math.floor(times.length * share)] ?? Number.NaN
  }

  function sendAt(dueAt: number): Promise<number> {
    return new Promise((resolve, reject) => {
      get({ agent, port, path: requestPath, headers: { authorization } }, (response) => {
        response.resume().on('end', () => resolve(performance.now() - dueAt))
      }).on('error', reject)
    })
  }
}

export const getPaths = { gateway: path, provider: path.replace('/a/', '/').replace('beta~', '') }
