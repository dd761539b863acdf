/** The tours of a page: the commands, and the output that the page shows. */
import { spawn } from 'node:child_process'
import { delimiter, dirname } from 'node:path'

export interface Step {
  /** Lines of a shell; they share its variables with the steps before. */
  readonly typed: string
  readonly shown: string
}

/** A block ` ```sh tour=<name> ` is a step of that tour, and the ` ```text ` block that follows shows its output. */
export function toursOf(page: string): ReadonlyMap<string, readonly Step[]> {
  const blocks = [...page.matchAll(/^```(\S+)(?: tour=(\w+))?\n([\s\S]*?)^```$/gm)]
  const steps = blocks.flatMap(([, , name, typed = ''], at) => {
    const [, language, , shown = ''] = blocks[at + 1] ?? []
    return name === undefined ? [] : [{ name, typed, shown: language === 'text' ? shown : '' }]
  })
  return Map.groupBy(steps, ({ name }) => name)
}

const mark = '-- the next step --'

/** What each step printed. The shell is one, and it stops at the first command that fails. */
export async function take(
  steps: readonly Step[],
  move: (text: string) => string,
  env: Readonly<Record<string, string>>,
): Promise<readonly string[]> {
  const script = steps.map(({ typed }) => `${move(typed)}\nprintf '\\n%s\\n' '${mark}'\n`).join('')
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env.PATH}`
  const shell = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    env: { ...process.env, ...env, PATH },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const out = Buffer.concat(await shell.stdout.toArray()).toString()
  return out.replaceAll('\r', '').split(`\n${mark}\n`).slice(0, -1)
}

/** Figures and words that are the same at every reading; others are shown by their kind alone. */
const lasting =
  /^(?:code|count|page|size|total|status|amount|amount_in|fromAmount|error|message|name|notes|network\w*|coin\w*|rateType|rate_type|withdrawal\w*|icon|deposit(?:Min|Max))$/
const passingHeader = /^(?:x-request-id|ratelimit|content-length|date|age|etag):/i
const passingWord =
  /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+Z|\bbc1q\w+|\b\d+\.\d{2,}|[\d.]+(?= USDT; from | to [\d.]+ BTC | BTC can )/g
/** Which of them a client sees depends on when it asks. */
const passingStatus = /^status: (?!success)/

/** A printed response without what differs each time. */
export function lastingPart(printed: string): readonly unknown[] {
  return printed
    .trim()
    .split('\n')
    .filter((line) => !passingStatus.test(line))
    .map((line) => {
      if (/^[{[]/.test(line)) return shapeOf(JSON.parse(line))
      return passingHeader.test(line) ? line.slice(0, line.indexOf(':')) : line.replace(passingWord, '…')
    })
}

function shapeOf(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => shapeOf(item))
  if (typeof value !== 'object' || value === null) return lasting.test(name) || value === null ? value : typeof value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, shapeOf(member, key)]))
}

/** For each line of JSON the position of the first equal line: a repeated response is printed twice. */
export function repetitions(printed: readonly string[]): readonly number[] {
  const lines = printed.flatMap((text) => text.split('\n')).filter((line) => line.startsWith('{'))
  return lines.map((line) => lines.indexOf(line))
}
