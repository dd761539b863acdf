/** A process that attacks for some seconds: in each cycle every attack alone, then all at once. Prints each phase as it begins. */
import { Agent } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import { attacks, type Target } from './attacks.ts'

/** Of a cycle. */
const mixedPart = 0.4

const outcomes = new Map<string, Map<string, number>>()

async function attack(target: Target, names: readonly string[], seconds: number): Promise<void> {
  const stopping = new AbortController()
  const agent = new Agent({ keepAlive: true, maxSockets: 256 })
  const running = names.map((name) => {
    const counts = outcomes.get(name) ?? new Map<string, number>()
    outcomes.set(name, counts)
    const count = (outcome: string): void => void counts.set(outcome, (counts.get(outcome) ?? 0) + 1)
    return attacks[name]?.({ target, signal: stopping.signal, agent, count })
  })
  await wait(seconds * 1_000)
  stopping.abort()
  agent.destroy()
  await Promise.race([Promise.all(running), wait(1_000)])
}

function printOutcomes(): void {
  for (const [name, counts] of outcomes) console.error(`${name.padEnd(20)} ${JSON.stringify(Object.fromEntries(counts))}`)
  process.exit()
}

if (import.meta.main) {
  process.once('SIGTERM', printOutcomes)
  const [target = '', seconds, cycles] = process.argv.slice(2)
  const cycle = Number(seconds) / Number(cycles)
  const names = Object.keys(attacks)
  for (let at = 0; at < Number(cycles); at++) {
    const end = performance.now() + cycle * 1_000
    for (const name of names) {
      console.log(name)
      await attack(JSON.parse(target), [name], (cycle * (1 - mixedPart)) / names.length)
    }
    console.log('all')
    await attack(JSON.parse(target), names, Math.max(1, (end - performance.now()) / 1_000))
    console.log('none')
  }
  printOutcomes()
}
