/** Runs simulations in a thread, one after another. */
import { parentPort } from 'node:worker_threads'
import { openModel, type Simulation } from './simulator.ts'

const simulate = await openModel()
parentPort?.on('message', (simulation: Simulation) => parentPort?.postMessage(simulate(simulation)))
