/** Replays a trace of the model with real gateways, step by step. */
import './clock.ts'
import type { ItfTrace } from '@informalsystems/quint/dist/src/itf.js'
import { actions } from './actions.ts'
import { differences } from './comparison.ts'
import { type Step, stepsOf } from './trace.ts'
import { World } from './world.ts'

/** Throws where something is other than the model has it, with the way there. `ledger`: default SQLite in a file. */
export async function replay(trace: ItfTrace, ledger?: string): Promise<void> {
  const steps = stepsOf(trace)
  const [first, ...others] = steps as [Step, ...Step[]]
  await using world = await World.start(first.state, ledger)
  for (const [at, step] of others.entries()) {
    const found = await done(world, step)
    if (found.length > 0) throw new Error([...found, 'after:', ...others.slice(0, at + 1).map(describeStep)].join('\n'))
  }
}

async function done(world: World, step: Step): Promise<readonly string[]> {
  const action = actions[step.action]
  if (!action) throw new Error(`The model has an action ${step.action} that is not known here.`)
  try {
    await action(world, step)
    return await differences(world, step.state)
  } catch (reason) {
    return [reason instanceof Error ? (reason.stack ?? reason.message) : String(reason)]
  }
}

function describeStep({ action, picks }: Step, at: number): string {
  return `${at + 1}. ${action} ${JSON.stringify(picks)}`
}
