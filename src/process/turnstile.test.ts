import type { IncomingMessage, ServerResponse } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { beforeEach, describe, expect, it } from 'vitest'
import { type Turnstile, turnstile } from './turnstile.ts'

let begun: string[]
let gate: Turnstile
beforeEach(() => {
  begun = []
  gate = turnstile(({ url = '' }) => void begun.push(url))
})

interface Client {
  destroyed: boolean
}

function come(url: string, method = 'GET'): Client {
  const response = { destroyed: false }
  gate.listener({ method, url } as IncomingMessage, response as unknown as ServerResponse)
  return response
}

const crowd = (count: number): readonly Client[] => Array.from({ length: count }, (_, at) => come(`${at}`))
const everybody = (): Promise<void> => expect.poll(() => gate.wait(), { interval: 1 }).toBe(0)

it('whoever comes alone begins at once', async () => {
  for (let round = 0; round < 3; round++) {
    come(`${round}`)
    expect(begun).toHaveLength(round + 1)
    await turn()
  }
})

describe('of a crowd', () => {
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
      expect(now - before).toBeLessThanOrEqual(300 - before > 128 ? 8 : 64)
    }
    expect(begun).toEqual(Array.from({ length: 300 }, (_, at) => `${at}`))
  })

  it('those who come later wait behind those who wait', async () => {
    crowd(80)
    await turn()
    come('late')
    await everybody()
    await turn()
    expect(begun.at(-1)).toBe('late')
  })

  it('X3: creates begin before the rest', async () => {
    crowd(80)
    come('create', 'POST')
    await everybody()
    expect(begun.indexOf('create')).toBe(64)
  })

  it('X7: who hung up meanwhile is passed over, but for what he wanted created', async () => {
    const clients = [...crowd(80), come('create', 'POST')]
    for (const client of clients) client.destroyed = true
    await everybody()
    await turn()
    expect(begun).toEqual([...Array.from({ length: 64 }, (_, at) => `${at}`), 'create'])
  })

  it('what follows from one is done before the next begins', async () => {
    const order: string[] = []
    gate = turnstile(({ url = '' }) => {
      order.push(`${url} begins`)
      void Promise.resolve().then(() => order.push(`${url} goes on`))
    })
    crowd(68)
    await everybody()
    await turn()
    expect(order.slice(-8)).toEqual([64, 65, 66, 67].flatMap((at) => [`${at} begins`, `${at} goes on`]))
  })

  it('it is known how long the first in line has waited', async () => {
    crowd(65)
    const end = performance.now() + 5
    while (performance.now() < end);
    expect(gate.wait()).toBeGreaterThanOrEqual(4.9)
    await everybody()
  })
})
