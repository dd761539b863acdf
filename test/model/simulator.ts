/** Quint's own simulator in this process: its command parses the model anew for each of many runs. */
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { load, parse, typecheck } from '@informalsystems/quint/dist/src/cliCommands.js'
import { toExpr } from '@informalsystems/quint/dist/src/cliHelpers.js'
import { type ItfTrace, toItf } from '@informalsystems/quint/dist/src/itf.js'
import { newRng } from '@informalsystems/quint/dist/src/rng.js'
import { Evaluator } from '@informalsystems/quint/dist/src/runtime/impl/evaluator.js'
import { newTraceRecorder } from '@informalsystems/quint/dist/src/runtime/trace.js'

export interface Simulation {
  /** What an operator does meanwhile; default: nothing. */
  readonly configuration?: Configuration
  /** Which is put back; default: none. */
  readonly defect?: string
  readonly seed: bigint
  readonly samples: number
  /** How many traces to give back; default: one, the bad one if there is one. */
  readonly traces?: number
}

export interface Outcome {
  /** Names of the invariants that the bad trace violates. */
  readonly violated: readonly string[]
  readonly samples: number
  /** Of the trace: with `--max-samples 1`, Quint's command shows it by this `--seed`. */
  readonly seed: string
  /** In how many traces each witness of the model held. */
  readonly witnessed: Readonly<Record<string, number>>
  readonly traces: readonly ItfTrace[]
}

/** Of one trace. */
export const steps = 25

/** Of the model: what an operator does meanwhile. */
export const configurations = ['fixed', 'twoTags', 'changing', 'removing', 'lying'] as const
export type Configuration = (typeof configurations)[number]

const configurationOfDefect: Readonly<Record<string, Configuration>> = {
  idsByTag: 'twoTags',
  tagIsPlace: 'changing',
  tableNamesCompared: 'changing',
  repeatsByTable: 'changing',
  removedIsGone: 'removing',
  removedIsOver: 'removing',
  responseUnjudged: 'lying',
  searchUnjudged: 'lying',
  bindUnjudged: 'lying',
  acceptUnjudged: 'lying',
  assignUnjudged: 'lying',
  responseDepositUnguarded: 'lying',
  searchDepositUnguarded: 'lying',
  personDepositUnguarded: 'lying',
}

/** The configuration in which a trace shows the defect. */
export function configurationOf(defect: string): Configuration {
  return configurationOfDefect[defect] ?? 'fixed'
}

const file = fileURLToPath(new URL('../../docs/model/create.qnt', import.meta.url))
const text = readFileSync(file, 'utf8')
export const defects = namesIn(text, /defect == "(\w+)"/g)
const invariants = namesIn(/val safe = and \{([^}]*)\}/.exec(text)?.[1] ?? '', /(\w+)/g)
const witnesses = namesIn(text, /val (some\w+) =/g)

/** What the simulator does not read. */
const untyped = { types: new Map(), effects: new Map(), modes: new Map() }

function namesIn(part: string, pattern: RegExp): readonly string[] {
  return [...part.matchAll(pattern)].map(([, name = '']) => name)
}

/** Returns the simulator. Throws if the model cannot be parsed, or its types are wrong. `untyped`: does not check the types. */
export async function openModel(mode: 'typed' | 'untyped' = 'typed'): Promise<(simulation: Simulation) => Outcome> {
  const loaded = (await load({ input: file } as never)).unwrap()
  const parsed = (await parse(loaded)).unwrap()
  const model = mode === 'untyped' ? { ...parsed, ...untyped } : (await typecheck(parsed)).unwrap()
  const expression = (source: string) => toExpr(model, source).unwrap()
  const [step, safe] = [expression('step'), expression('safe')]
  const [all, reached] = [invariants.map(expression), witnesses.map(expression)]

  return ({ defect = 'none', configuration = configurationOf(defect), seed, samples, traces: kept = 1 }) => {
    const rng = newRng(seed)
    const evaluator = new Evaluator(model.table, newTraceRecorder(0, rng, kept), rng, kept > 1)
    const init = expression(`initIn("${configuration}", "${defect}")`)
    const traces: ItfTrace[] = []
    const outcome = evaluator.simulate(init, step, safe, reached, samples, steps, 1, (_, __, variables, states) => {
      traces.push(toItf([...variables], states, true).unwrap())
    })
    if (outcome.status === 'error') throw new Error(outcome.errors.map(({ message }) => message).join('\n'))
    const [best] = outcome.bestTraces
    const last = best?.states.at(-1)
    const violated = invariants.filter((_, at) => {
      if (outcome.status === 'ok' || !last) return false
      const judge = new Evaluator(model.table, newTraceRecorder(0, rng), rng, false)
      const invariant = all[at] as (typeof all)[number]
      judge.evaluate(invariant)
      judge.updateState(last)
      const value = judge.evaluate(invariant).unwrap()
      return value.kind === 'bool' && !value.value
    })
    return {
      violated,
      samples: outcome.samples,
      seed: `0x${(best?.seed ?? seed).toString(16)}`,
      witnessed: Object.fromEntries(witnesses.map((name, at) => [name, outcome.witnessingTraces[at] ?? 0])),
      traces,
    }
  }
}
