/** Runs the goldens against every mutant of a form, each loaded from a file of its own in a temporary folder. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Form } from '../../src/wire/form.ts'
import { checkAbsences } from '../golden/absence.ts'
import { checkConnect, checkPromises, checkServe, type Promises } from '../golden/check.ts'
import type { Golden } from '../golden/golden.ts'
import { whyEquivalent } from './equivalents.ts'
import { type Mutant, mutantsOf } from './mutants.ts'

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

interface Check {
  readonly name: string
  readonly run: (form: Form) => Promise<void>
}

const sources = join(import.meta.dirname, '../../src')

export async function measure(file: string, goldens: readonly Golden[], promises: Promises): Promise<Measurement> {
  const folder = mkdtempSync(join(tmpdir(), 'swapgate-mutants-'))
  const load = async (source: string, name: string): Promise<Form> => {
    const path = join(folder, `${name}.mts`)
    writeFileSync(path, withAbsoluteImports(source))
    const module = (await import(pathToFileURL(path).href)) as Readonly<Record<string, Form>>
    return Object.values(module)[0] as Form
  }
  try {
    const source = readFileSync(join(sources, 'forms', file), 'utf8')
    const form = await load(source, 'form')
    const all = checksOf(goldens, promises)
    const outcomes = await Promise.all(all.map((check) => fails(check, form)))
    const green = all.filter((_, at) => !outcomes[at])
    const verdicts: Verdict[] = []
    for (const [at, mutant] of mutantsOf(source).entries()) {
      verdicts.push({ mutant, outcome: await judge(mutant, green, () => load(mutant.source, `mutant-${at}`)) })
    }
    return { verdicts, red: all.filter((check) => !green.includes(check)).map(({ name }) => name) }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

function checksOf(goldens: readonly Golden[], promises: Promises): readonly Check[] {
  const exchanges = goldens.flatMap((golden): readonly Check[] => [
    ...(golden.only === 'connect' ? [] : [{ name: `${golden.file} (serve)`, run: (form: Form) => checkServe(form, golden) }]),
    ...(golden.only === 'serve' ? [] : [{ name: `${golden.file} (connect)`, run: (form: Form) => checkConnect(form, golden) }]),
    { name: `${golden.file} (absences)`, run: (form) => checkAbsences(form, golden) },
  ])
  return [...exchanges, { name: 'promises', run: async (form) => checkPromises(form, promises) }]
}

/** A mutant that does not even load is killed, too. */
async function judge(mutant: Mutant, checks: readonly Check[], load: () => Promise<Form>): Promise<string> {
  const form = await load().catch(() => undefined)
  if (!form) return 'killed'
  for (const check of checks) if (await fails(check, form)) return 'killed'
  return whyEquivalent(mutant) ?? 'survived'
}

async function fails({ run }: Check, form: Form): Promise<boolean> {
  try {
    await run(form)
    return false
  } catch {
    return true
  }
}

/** Imports whatever a mutant may use, from where the form itself imports it. */
function withAbsoluteImports(source: string): string {
  const from = (file: string): string => pathToFileURL(join(sources, 'wire', file)).href
  const imports = [
    `import { bearer, keyHeader } from '${from('credential.ts')}'`,
    `import { defineForm, operation } from '${from('form.ts')}'`,
    `import { extension, optional, optionalText, withDefault, orNull } from '${from('table.ts')}'`,
  ]
  return [...imports, source.replace(/^import .*$/gm, '')].join('\n')
}
