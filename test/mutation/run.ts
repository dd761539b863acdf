/** `node test/mutation/run.ts [--json]`: every single mistake in a form's tables, and whether the goldens notice it. */
import { promises, readGoldens } from '../golden/read.ts'
import { readProviderGoldens } from '../golden-providers/golden.ts'
import { providerPromises } from '../golden-providers/promises.ts'
import { checksOf, type Measurement, measure, providerChecksOf, type Verdict } from './measure.ts'
import { kinds, mutantsOf } from './mutants.ts'
import { providerMutantsOf } from './provider-mutants.ts'

interface Score {
  readonly killed: number
  readonly of: number
  readonly equivalent: number
}

export interface Report {
  readonly scores: Readonly<Record<string, Score>>
  readonly survivors: readonly string[]
  readonly equivalents: readonly string[]
  readonly red: readonly string[]
}

/** Client forms, and what proposes their mutants: one that has objects is read as a provider's form is. */
const clients = { a: mutantsOf, b: mutantsOf, 'exolix-client': providerMutantsOf } as const
/** `npm run mutate -- exolix` judges these forms only. */
const chosen = process.argv.slice(2).filter((argument) => !argument.startsWith('--'))
const isChosen = (name: string): boolean => chosen.length === 0 || chosen.includes(name)

async function measureAll(): Promise<Report> {
  const measured: [string, Measurement][] = []
  for (const [name, mutants] of Object.entries(clients).filter(([name]) => isChosen(name))) {
    const checks = checksOf(readGoldens(name), promises[name as keyof typeof clients])
    measured.push([`${name}.ts`, await measure({ file: `${name}.ts`, mutants, checks })])
  }
  for (const [name, expected] of Object.entries(providerPromises).filter(([name]) => isChosen(name))) {
    const checks = providerChecksOf(readProviderGoldens(name), expected)
    measured.push([`${name}.ts`, await measure({ file: `${name}.ts`, mutants: providerMutantsOf, checks })])
  }
  const verdicts = measured.flatMap(([file, { verdicts }]) => verdicts.map((verdict) => ({ ...verdict, file })))
  const describeVerdict = ({ mutant, file }: Verdict & { readonly file: string }): string =>
    `${file}:${mutant.line} ${mutant.kind}: ${flat(mutant.was)} -> ${flat(mutant.becomes) || 'nothing'}`
  const isJudged = ({ outcome }: Verdict): boolean => outcome === 'killed' || outcome === 'survived'
  return {
    scores: Object.fromEntries(kinds.map((kind) => [kind, score(verdicts.filter(({ mutant }) => mutant.kind === kind))])),
    survivors: verdicts.filter(({ outcome }) => outcome === 'survived').map(describeVerdict),
    equivalents: verdicts
      .filter((verdict) => !isJudged(verdict))
      .map((verdict) => `${describeVerdict(verdict)}: ${verdict.outcome}`),
    red: measured.flatMap(([file, { red }]) => red.map((check) => `${file}: ${check}`)),
  }
}

function score(verdicts: readonly Verdict[]): Score {
  const killed = verdicts.filter(({ outcome }) => outcome === 'killed').length
  const survived = verdicts.filter(({ outcome }) => outcome === 'survived').length
  return { killed, of: killed + survived, equivalent: verdicts.length - killed - survived }
}

function flat(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}

function print({ scores, survivors, equivalents, red }: Report): void {
  for (const check of red) console.log(`red on the form itself, so judging nothing: ${check}`)
  for (const equivalent of equivalents) console.log(`equivalent ${equivalent}`)
  for (const survivor of survivors) console.log(`survived   ${survivor}`)
  for (const [kind, { killed, of, equivalent }] of Object.entries(scores)) {
    const rate = of === 0 ? '' : ` ${((100 * killed) / of).toFixed(1)} %`
    console.log(`${kind.padEnd(14)} ${killed}/${of}${rate}${equivalent === 0 ? '' : `, ${equivalent} equivalent`}`)
  }
}

const report = await measureAll()
if (process.argv.includes('--json')) console.log(JSON.stringify(report))
else print(report)
process.exitCode = report.survivors.length === 0 ? 0 : 1
