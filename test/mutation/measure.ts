/** Runs the goldens against every mutant of a form. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { compileFunction } from 'node:vm'
import type { Form } from '../../src/wire/form.ts'
import type { ProviderForm } from '../../src/wire/provider-form.ts'
import { checkAbsences } from '../golden/absence.ts'
import { checkConnect, checkPromises, checkServe, type Promises } from '../golden/check.ts'
import type { Golden } from '../golden/golden.ts'
import { checkAbsences as checkProviderAbsences } from '../golden-providers/absence.ts'
import { checkExchanges, checkProviderPromises, type ProviderPromises } from '../golden-providers/check.ts'
import type { ProviderGolden } from '../golden-providers/golden.ts'
import { whyEquivalent } from './equivalents.ts'
import type { Mutant } from './mutants.ts'

export interface Verdict {
  readonly mutant: Mutant
  /** `killed`, `survived`, or why it cannot be decided. */
  readonly outcome: string
}

export interface Measurement {
  readonly verdicts: readonly Verdict[]
  /** Checks that the form itself does not pass: they can judge no mutant. */
  readonly red: readonly string[]
}

export interface Check<F> {
  readonly name: string
  readonly run: (form: F) => Promise<void>
}

/** What mutants may use beyond their form's own imports. */
const used: Readonly<Record<string, readonly string[]>> = {
  '../wire/credential.ts': ['bearer', 'keyHeader'],
  '../wire/table.ts': ['extension', 'isOffFor', 'isOn', 'optional', 'orNull'],
}

const imports = /^import \{([^}]*)\} from '(.*)'$/gm
const sources = join(import.meta.dirname, '../../src')

type Module = Readonly<Record<string, unknown>>
const modules = new Map<string, Module>()

/** What judges the mutants of a file with one exported form. */
export interface Judges<F> {
  /** In `src/forms`. */
  readonly file: string
  readonly mutants: (source: string) => readonly Mutant[]
  readonly checks: readonly Check<F>[]
}

export async function measure<F>({ file, mutants, checks }: Judges<F>): Promise<Measurement> {
  const source = stripTypeScriptTypes(readFileSync(join(sources, 'forms', file), 'utf8'))
  const form = await load<F>(source)
  const outcomes = await Promise.all(checks.map((check) => fails(check, form)))
  const green = checks.filter((_, at) => !outcomes[at])
  const verdicts: Verdict[] = []
  for (const mutant of mutants(source)) {
    verdicts.push({ mutant, outcome: await judge(mutant, green, () => load(mutant.source)) })
  }
  return { verdicts, red: checks.filter((check) => !green.includes(check)).map(({ name }) => name) }
}

/** The form that the source exports. It is compiled as a function: a module would stay in memory as long as the process. */
async function load<F>(source: string): Promise<F> {
  const names = await namesImported(source)
  const body = source.replace(imports, '').replace(/^export const \w+ =/m, 'return')
  return compileFunction(`'use strict'\n${body}`, Object.keys(names))(...Object.values(names)) as F
}

export function checksOf(goldens: readonly Golden[], promises: Promises): readonly Check<Form>[] {
  const exchanges = goldens.flatMap((golden): readonly Check<Form>[] => [
    ...(golden.only === 'connect' ? [] : [{ name: `${golden.file} (serve)`, run: (form: Form) => checkServe(form, golden) }]),
    ...(golden.only === 'serve' ? [] : [{ name: `${golden.file} (connect)`, run: (form: Form) => checkConnect(form, golden) }]),
    { name: `${golden.file} (absences)`, run: (form) => checkAbsences(form, golden) },
  ])
  return [...exchanges, { name: 'promises', run: async (form) => checkPromises(form, promises) }]
}

/** All exchanges before the absences, which take longer. */
export function providerChecksOf(goldens: readonly ProviderGolden[], promises: ProviderPromises): readonly Check<ProviderForm>[] {
  const run = (
    name: string,
    check: (form: ProviderForm, golden: ProviderGolden) => Promise<void>,
  ): readonly Check<ProviderForm>[] =>
    goldens.map((golden) => ({ name: `${golden.file} (${name})`, run: (form) => check(form, golden) }))
  return [
    { name: 'promises', run: async (form) => checkProviderPromises(form, promises) },
    ...run('exchanges', checkExchanges),
    ...run('absences', checkProviderAbsences),
  ]
}

/** A mutant that does not even load is killed, too. The check that kills it comes first for the next one, which is near it. */
async function judge<F>(mutant: Mutant, checks: Check<F>[], load: () => Promise<F>): Promise<string> {
  const form = await load().catch(() => undefined)
  if (!form) return 'killed'
  for (const [at, check] of checks.entries()) {
    if (!(await fails(check, form))) continue
    checks.splice(at, 1)
    checks.unshift(check)
    return 'killed'
  }
  return whyEquivalent(mutant) ?? 'survived'
}

async function fails<F>({ run }: Check<F>, form: F): Promise<boolean> {
  try {
    await run(form)
    return false
  } catch {
    return true
  }
}

/** What the source imports by name, and whatever a mutant may use, as modules of the forms have it. */
async function namesImported(source: string): Promise<Record<string, unknown>> {
  const lists = [...source.matchAll(imports)].map(([, list = '', path = '']) => [path, list.match(/[^,\s][^,]*/g) ?? []] as const)
  const all: Record<string, unknown> = {}
  for (const [path, names] of [...Object.entries(used), ...lists]) {
    const module = await moduleAt(path)
    for (const name of names.map((text) => text.trim())) {
      if (!Object.hasOwn(module, name)) throw new SyntaxError(`${path} does not export ${name}`)
      all[name] = module[name]
    }
  }
  return all
}

/** From where the forms import it. */
async function moduleAt(path: string): Promise<Module> {
  const module = modules.get(path) ?? ((await import(pathToFileURL(join(sources, 'forms', path)).href)) as Module)
  modules.set(path, module)
  return module
}
