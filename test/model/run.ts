/**
 * `npm run model [traces] [seed]`: simulates so many traces of each configuration without defects, then puts back each known defect
 * until a trace shows it; `found.json` keeps which one, for the tests. Prints the figures; ends with 1 where a trace violates
 * something, or a defect is not found.
 */
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { Worker } from 'node:worker_threads'
import { configurations, defects, type Outcome, type Simulation, steps } from './simulator.ts'

/** Traces in one portion of work, each with a seed of its own; and the most that are tried for one defect. */
const portion = 1_000
const maxForOne = 20_000

const [traces = 10_000, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
const workers = Array.from({ length: availableParallelism() }, () => new Worker(new URL('./simulation-worker.ts', import.meta.url)))

async function simulate(worker: Worker, simulation: Simulation): Promise<Outcome> {
  worker.postMessage(simulation)
  const [outcome] = await once(worker, 'message')
  return outcome
}

/** Gives each of them to the next worker that is free, until there is none left. */
async function share<Work>(all: readonly Work[], does: (worker: Worker, work: Work) => Promise<void>): Promise<void> {
  const left = all.values()
  const busy = workers.map(async (worker) => {
    for (const work of left) await does(worker, work)
  })
  await Promise.all(busy)
}

let isGood = true
for (const configuration of configurations) {
  const witnessed: Record<string, number> = {}
  const began = Date.now()
  await share([...Array(Math.ceil(traces / portion)).keys()], async (worker, at) => {
    const samples = Math.min(portion, traces - at * portion)
    const outcome = await simulate(worker, { configuration, seed: BigInt(seed + at), samples })
    for (const [name, count] of Object.entries(outcome.witnessed)) witnessed[name] = (witnessed[name] ?? 0) + count
    if (outcome.violated.length === 0) return
    isGood = false
    console.error(`${configuration}: violated: ${outcome.violated.join(', ')}; seed ${outcome.seed}`)
  })
  const seconds = Math.round((Date.now() - began) / 1000)
  console.info(
    `${configuration}, no defect: ${traces} traces of ${steps} steps, seeds ${seed} and following, ${seconds} s`,
    witnessed,
  )
}

const shows: Record<string, string> = {}
await share(defects, async (worker, defect) => {
  let tried = 0
  for (let at = seed; tried < maxForOne; at++) {
    const { violated, samples, seed: found } = await simulate(worker, { defect, seed: BigInt(at), samples: portion })
    tried += samples
    if (violated.length === 0) continue
    shows[defect] = found
    console.info(`${defect}: found in trace ${tried} by ${violated.join(', ')}; seed ${found}`)
    return
  }
  isGood = false
  console.error(`${defect}: not found in ${tried} traces`)
})
if (isGood) {
  const sorted = Object.fromEntries(Object.entries(shows).toSorted())
  writeFileSync(new URL('./found.json', import.meta.url), `${JSON.stringify(sorted, null, 2)}\n`)
}
for (const worker of workers) await worker.terminate()
process.exitCode = isGood ? 0 : 1
