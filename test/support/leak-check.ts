/** Records logs, error responses, metrics and spans of all tests, and searches them for secrets after the last test. */
import { appendFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEachFile } from './after-tests.ts'

/** Keys of clients, of providers and of starts, and whole addresses, as the tests have them. */
const secrets =
  /canary-[a-z-]*key[\w-]*|\w*CaNaRy\w*|own-key-\d+|provider-key-(?:alpha|beta)|(?:alpha|beta)-secret-key|sg_live_[0-9A-Za-z]{30,}|sg_start_[\w-]{32}|(?:T|0x)?[Ww]ithdraw-?\d+|refund-\d+|bc1q[02-9ac-hj-np-z]{38}/g
/** The directory of the ledger of a gateway that is started here with the default configuration. */
const ownData = 'data'
const variable = 'SWAPGATE_OUTPUT'

/** Characters. A write for each response would take longer than some requests. */
const maxBuffered = 2 ** 20

export type Kind = 'log' | 'error' | 'metrics' | 'spans'

/** Not written yet. */
const buffered = new Map<Kind, string[]>()
let bufferedLength = 0

export function recordOutput(kind: Kind, output: string | Uint8Array): void {
  const text = typeof output === 'string' ? output : Buffer.from(output).toString('latin1')
  const texts = buffered.get(kind) ?? []
  buffered.set(kind, texts)
  texts.push(text)
  bufferedLength += text.length
  if (bufferedLength > maxBuffered) writeOutput()
}

function writeOutput(): void {
  const directory = process.env[variable]
  if (directory !== undefined)
    for (const [kind, texts] of buffered) appendFileSync(join(directory, `${kind}-${process.pid}`), texts.join(''))
  buffered.clear()
  bufferedLength = 0
}

afterEachFile.add(async () => writeOutput())

export function secretsIn(text: string): readonly string[] {
  return [...new Set(text.match(secrets))]
}

/** For vitest, before and after all tests: checks O1, and that no test creates the ledger of the default configuration. */
export default function setup(): () => void {
  const hadData = existsSync(ownData)
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-output-'))
  process.env[variable] = directory
  return () => {
    const files = globSync('*', { cwd: directory })
    const found = files.flatMap((file) =>
      secretsIn(readFileSync(join(directory, file), 'latin1')).map((secret) => `${file.split('-')[0]} has ${secret}`),
    )
    rmSync(directory, { recursive: true })
    console.info(`O1: the output of ${files.length} test processes has ${found.length} keys and addresses`)
    for (const line of new Set(found)) console.error(line)
    const createdData = !hadData && existsSync(ownData)
    if (createdData) console.error(`a test created a ledger in ${ownData}/ of the clone`)
    if (found.length > 0 || createdData) process.exitCode = 1
  }
}
