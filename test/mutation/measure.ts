/** Runs the goldens against every mutant of a form, each loaded as a module of its own from memory. */
import { readFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Form } from '../../src/wire/form.ts'
import type { ProviderForm } from '../../src/wire/provider/form.ts'
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
const used = { 'credential.ts': ['bearer', 'keyHeader'], 'codec/table.ts': ['extension', 'optional', 'orNull'] } as const

const sources = join(import.meta.dirname, '../../src')

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

/** What the module exports. Two mutants with the same text are one module. */
async function load<F>(source: string): Promise<F> {
  const module = (await import(`data:text/javascript,${encodeURIComponent(withAbsoluteImports(source))}`)) as Readonly<
    Record<string, F>
  >
  return Object.values(module)[0] as F
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

/** Imports whatever a mutant may use, from where the forms import it. */
function withAbsoluteImports(source: string): string {
  const own = source.replace(/from '(\..*)'$/gm, (_, path: string) => `from '${pathToFileURL(join(sources, 'forms', path)).href}'`)
  const importedNames = new Set(
    [...source.matchAll(/^import (?:type )?\{(.*)\}/gm)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []),
  )
  const missing = Object.entries(used).flatMap(([path, names]) => {
    const others = names.filter((name) => !importedNames.has(name))
    return others.length === 0 ? [] : [`import { ${others.join(', ')} } from '${pathToFileURL(join(sources, 'wire', path)).href}'`]
  })
  return [...missing, own].join('\n')
}
