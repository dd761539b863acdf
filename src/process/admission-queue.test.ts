import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type AdmissionQueue, admissionQueue } from './admission-queue.ts'

let begun: string[]
let gate: AdmissionQueue
beforeEach(() => {
  begun = []
  gate = admissionQueue(({ url = '' }) => void begun.push(url))
})

/** One request on a connection of its own. */
class Client extends EventEmitter {
  destroyed = false
  readonly connection = {
    destroyed: false,
    writableEnded: false,
    isRead: true,
    pause: () => this.read(false),
    resume: () => this.read(true),
  }

  /** Writes responses to pipelined requests of the client. */
  respond(count = 2): void {
    for (let at = 0; at < count; at++) this.emit('close')
  }

  private read(isRead: boolean): void {
    this.connection.isRead = isRead
  }
}

function come(url: string, method = 'GET', key = 'one'): Client {
  const client = new Client()
  const request = { method, url, socket: client.connection, headers: { 'x-api-key': key } }
  gate.listener(request as unknown as IncomingMessage, client as unknown as ServerResponse)
  return client
}

afterEach(() => void vi.restoreAllMocks())

const crowd = (count: number): readonly Client[] => Array.from({ length: count }, (_, at) => come(`${at}`))
const queueEmpty = (): Promise<void> => expect.poll(() => gate.waitMs(), { interval: 1 }).toBe(0)

it('a single request begins at once', async () => {
  for (let round = 0; round < 3; round++) {
    come(`${round}`)
    expect(begun).toHaveLength(round + 1)
    await turn()
  }
})

describe('of many requests at once', () => {
  it('some begin at once, the others in later turns, all in their order', async () => {
    crowd(300)
    const turns = [begun.length]
    expect(turns).toEqual([64])
    while (begun.length < 300) {
      await turn()
      turns.push(begun.length)
    }
    for (const [at, before] of turns.entries()) {
      const now = turns[at + 1] ?? before
      expect(now - before).toBeLessThanOrEqual(32)
    }
    expect(begun).toEqual(Array.from({ length: 300 }, (_, at) => `${at}`))
  })

  it('later requests wait behind waiting ones', async () => {
    crowd(80)
    await turn()
    come('late')
    await queueEmpty()
    await turn()
    expect(begun.at(-1)).toBe('late')
  })

  it('X3: every second one is a create, if there is one', async () => {
    crowd(80)
    for (let at = 0; at < 4; at++) come(`create ${at}`, 'POST')
    await queueEmpty()
    await turn()
    expect(begun.slice(64, 72)).toEqual(['create 0', '64', 'create 1', '65', 'create 2', '66', 'create 3', '67'])
  })

  it('X15: callers have turns, by their keys', async () => {
    crowd(70)
    for (let at = 0; at < 3; at++) come(`other ${at}`, 'GET', 'other')
    await queueEmpty()
    await turn()
    expect(begun.slice(64, 70)).toEqual(['64', 'other 0', '65', 'other 1', '66', 'other 2'])
  })

  it('X7: a request whose client has gone is skipped, unless it is a create', async () => {
    const clients = [...crowd(80), come('create', 'POST')]
    for (const client of clients) client.destroyed = true
    await queueEmpty()
    await turn()
    expect(begun).toEqual([...Array.from({ length: 64 }, (_, at) => `${at}`), 'create'])
  })

  it('the callbacks of one run before the next begins', async () => {
    const order: string[] = []
    gate = admissionQueue(({ url = '' }) => {
      order.push(`${url} begins`)
      void Promise.resolve().then(() => order.push(`${url} goes on`))
    })
    crowd(68)
    await queueEmpty()
    await turn()
    expect(order.slice(-8)).toEqual([64, 65, 66, 67].flatMap((at) => [`${at} begins`, `${at} goes on`]))
  })

  it('the wait of the first one is known', async () => {
    crowd(65)
    const end = performance.now() + 5
    while (performance.now() < end);
    expect(gate.waitMs()).toBeGreaterThanOrEqual(4.9)
    await queueEmpty()
  })

  it('what has begun and what waits are counted, whoever leaves meanwhile', async () => {
    const clients = crowd(70)
    expect(gate.counts()).toEqual({ inFlight: 64, waiting: 6 })
    for (const client of clients) client.destroyed = true
    for (const client of clients) client.respond(1)
    expect(gate.counts()).toEqual({ inFlight: 0, waiting: 6 })
    await queueEmpty()
    expect(gate.counts()).toEqual({ inFlight: 0, waiting: 0 })
  })

  describe('a connection that had its responses', () => {
    it('is read after the waiting requests, few in a turn', async () => {
      const responded = crowd(200).slice(0, 64)
      for (const client of responded) client.respond()
      const read = (): number => responded.filter(({ connection }) => connection.isRead).length
      expect(read()).toBe(0)
      for (let before = 0; before < 64; before = read()) {
        await turn()
        expect(read() - before).toBeLessThanOrEqual(32)
        expect(read() === 0 || begun.length === 200, `${read()} read, ${begun.length} begun`).toBe(true)
      }
    })

    it('may send once more before it is paused', async () => {
      const [client] = crowd(200)
      client?.respond(1)
      expect(client?.connection.isRead).toBe(true)
      client?.respond(1)
      expect(client?.connection.isRead).toBe(false)
      await queueEmpty()
      client?.respond(1)
      expect(client?.connection.isRead).toBe(true)
    })

    it('is read after half a second, even if others wait', async () => {
      const [client] = crowd(200)
      client?.respond()
      const before = performance.now()
      const clock = vi.spyOn(performance, 'now')
      const readAfter = async (milliseconds: number): Promise<boolean | undefined> => {
        clock.mockReturnValue(before + milliseconds)
        for (let count = 0; count < 20; count++) {
          crowd(32)
          await turn()
        }
        return client?.connection.isRead
      }
      expect(await readAfter(490)).toBe(false)
      expect(await readAfter(510)).toBe(true)
    })

    it('is read at once if few wait', async () => {
      const clients = crowd(64 + 31)
      clients[0]?.respond()
      expect(clients[0]?.connection.isRead).toBe(true)
      await queueEmpty()
    })

    it.each(['destroyed', 'writableEnded'] as const)('is not kept if it is %s', async (ended) => {
      const [client] = crowd(200)
      if (client) client.connection[ended] = true
      client?.respond()
      expect(client?.connection.isRead).toBe(true)
      await queueEmpty()
    })

    it('is read at once from when the process ends', async () => {
      const [first, second] = crowd(200)
      first?.respond()
      gate.open()
      second?.respond()
      expect([first, second].map((client) => client?.connection.isRead)).toEqual([true, true])
      await queueEmpty()
    })

    it('counts as waiting while it is paused', async () => {
      const clients = crowd(200)
      for (const client of clients.slice(0, 64)) client.respond()
      while (begun.length < 200) await turn()
      expect(gate.waitMs()).toBeGreaterThan(0)
      await queueEmpty()
    })
  })
})
