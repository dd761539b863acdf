/** `npm run model:replay [traces] [seed]`: replays so many traces of the model with real gateways. Exits with 1 if one differs. */
import { replay } from './replay.ts'
import { openModel } from './simulator.ts'

const [count = 500, seed = Date.now() % 2 ** 31] = process.argv.slice(2).map(Number)
const simulate = await openModel()
const { traces, violated } = simulate({ seed: BigInt(seed), samples: count, traces: count })
if (violated.length > 0) throw new Error(`The model itself violates ${violated.join(', ')}: npm run model -- ${count} ${seed}`)
const began = performance.now()
let bad = 0
for (const [at, trace] of traces.entries()) {
  try {
    await replay(trace)
  } catch (reason) {
    bad++
    console.error(`trace ${at} disagrees: ${(reason as Error).message}\n`)
  }
}
const seconds = Math.round((performance.now() - began) / 1000)
console.info(
  `${traces.length} traces of seed ${seed} against real gateways: ${traces.length - bad} agree, ${bad} do not; ${seconds} s`,
)
process.exitCode = bad > 0 ? 1 : 0
