/** What the gateways of all tests logged, refused, counted and traced: kept until the last test has ended, and then looked through. */
import { appendFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEachFile } from './after-tests.ts'

/** Keys of clients and of providers, and whole addresses, as the tests have them. */
const secrets =
  /canary-[a-z-]*key[\w-]*|\w*CaNaRy\w*|own-key-\d+|provider-key-(?:alpha|beta)|(?:alpha|beta)-secret-key|sg_live_[0-9A-Za-z]{30,}|(?:T|0x)?[Ww]ithdraw-?\d+|refund-\d+|bc1q-deposit-?\d*/g
/** Where a gateway that is started here without a configuration of its own has its ledger. */
const ownData = 'data'
const variable = 'SWAPGATE_REMAINS'

/** Characters. A write for each response would take longer than many a request. */
const maxKept = 2 ** 20

export type Kind = 'log' | 'error' | 'metrics' | 'spans'

/** What is not written yet. */
const kept = new Map<Kind, string[]>()
let keptLength = 0

export function keepRemains(kind: Kind, remains: string | Uint8Array): void {
  const text = typeof remains === 'string' ? remains : Buffer.from(remains).toString('latin1')
  const texts = kept.get(kind) ?? []
  kept.set(kind, texts)
  texts.push(text)
  keptLength += text.length
  if (keptLength > maxKept) writeRemains()
}

function writeRemains(): void {
  const directory = process.env[variable]
  if (directory !== undefined)
    for (const [kind, texts] of kept) appendFileSync(join(directory, `${kind}-${process.pid}`), texts.join(''))
  kept.clear()
  keptLength = 0
}

afterEachFile.add(async () => writeRemains())

export function secretsIn(text: string): readonly string[] {
  return [...new Set(text.match(secrets))]
}

/** For vitest, before and after all: O1, and that the clone's own ledger is not begun by a test. */
export default function setup(): () => void {
  const hadData = existsSync(ownData)
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-remains-'))
  process.env[variable] = directory
  return () => {
    const files = globSync('*', { cwd: directory })
    const found = files.flatMap((file) =>
      secretsIn(readFileSync(join(directory, file), 'latin1')).map((secret) => `${file.split('-')[0]} has ${secret}`),
    )
    rmSync(directory, { recursive: true })
    console.info(`O1: what ${files.length} processes of tests left behind has ${found.length} keys and addresses`)
    for (const line of new Set(found)) console.error(line)
    const beganData = !hadData && existsSync(ownData)
    if (beganData) console.error(`a test has begun a ledger in ${ownData}/ of the clone`)
    if (found.length > 0 || beganData) process.exitCode = 1
  }
}
