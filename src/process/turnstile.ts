/** Lets what is under way go before what is new, so that a process with too much to do finishes what it begins. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'

export interface Turnstile {
  readonly listener: RequestListener
  /** How long the first in line has waited, in milliseconds; 0 where nobody waits. */
  readonly wait: () => number
}

interface Waiting {
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly since: number
}

/** Requests that may begin in one turn of the event loop: large turns cost least, small ones keep few half-done. */
const most = 64
/** Where more than so many wait, so few begin. */
const crowd = 128
const mostOfCrowd = 8

/**
 * Who comes when so many have begun in a turn of the event loop waits for the next one, with nothing kept of him but his
 * request. A turn brings first what others wait for: answers of providers, and room to write. Creates wait before the rest.
 */
export function turnstile(begin: RequestListener): Turnstile {
  const creates = new Set<Waiting>()
  const others = new Set<Waiting>()
  let begun = 0
  let isTurning = false
  const next = (): Waiting | undefined => {
    for (const line of [creates, others]) {
      for (const first of line) {
        line.delete(first)
        return first
      }
    }
    return undefined
  }
  const beginNext = (): void => {
    const first = next()
    if (!first) return
    const { request, response } = first
    // Whoever hung up reads nothing any more; what he wanted created is created (`spec/contract.md` §10).
    if (!response.destroyed || request.method === 'POST') begin(request, response)
  }
  const turn = (): void => {
    isTurning = false
    const waiting = creates.size + others.size
    begun = waiting > crowd ? mostOfCrowd : Math.min(most, waiting)
    // One by one: what follows from one is done before the next begins.
    for (let count = 0; count < begun; count++) setImmediate(beginNext)
    if (begun > 0) willTurn()
  }
  const willTurn = (): void => {
    if (isTurning) return
    isTurning = true
    setImmediate(turn)
  }
  return {
    listener(request, response) {
      willTurn()
      if (begun++ < most && creates.size + others.size === 0) return begin(request, response)
      const line = request.method === 'POST' ? creates : others
      line.add({ request, response, since: performance.now() })
    },
    wait() {
      const now = performance.now()
      const waits = [creates, others].map(([first]) => (first ? now - first.since : 0))
      return Math.max(...waits)
    },
  }
}
