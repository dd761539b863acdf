// Takes long: processes are started and killed.
/** Several processes write to one ledger, and are killed while they do. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { type OpenLedger, openLedger } from '../../src/ledger/index.ts'
import { bundledLedgerWriter } from '../support/bundle.ts'
import { query, wrongPageIndex } from './raw.ts'
import { always } from './samples.ts'
import { describeStores, durableStores } from './stores.ts'

interface Writer {
  readonly child: ChildProcess
  /** Its output so far, line by line. */
  readonly lines: () => string[]
  /** Its exit code and what it complained of, when it has ended. */
  readonly ended: Promise<readonly [code: number | null, complaint: string]>
}

function startWriter(url: string, name: string, creates: number): Writer {
  const child = spawn(process.execPath, [bundledLedgerWriter(), url, name, String(creates)], { stdio: ['ignore', 'pipe', 'pipe'] })
  onTestFinished(() => void child.kill('SIGKILL'))
  let output = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (chunk) => {
    output += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk) => {
    complaint += chunk
  })
  const ended = once(child, 'close').then(([code]) => [code as number | null, complaint] as const)
  return { child, lines: () => output.split('\n').slice(0, -1), ended }
}

/** All that it has of these, as the writers report it. One after the other: a ledger refuses those that would wait too long. */
async function storedIds({ ledger }: OpenLedger, lines: readonly string[]): Promise<string[]> {
  const found: string[] = []
  for (const line of lines) {
    const [owner = '', id = ''] = line.split(' ')
    if (await ledger.find(owner, 'alpha', id)) found.push(line)
  }
  return found
}

const isCreate = (line: string) => !line.startsWith('key ')

describeStores(durableStores, (shared) => {
  test('L18: four processes make a thousand creates in one new ledger; nothing is lost, none is refused', async () => {
    const { url, close } = await shared().openNew()
    await close()
    const writers = ['a', 'b', 'c', 'd'].map((name) => startWriter(url, name, 250))
    const ends = await Promise.all(writers.map(({ ended }) => ended))
    expect(ends).toEqual(ends.map(() => [0, '']))
    const lines = writers.flatMap((writer) => writer.lines())
    const creates = lines.filter(isCreate)
    expect(new Set(creates).size).toBe(1_000)
    const keys = lines.filter((line) => !isCreate(line))
    expect([keys.length, new Set(keys).size]).toEqual([25, 25])
    const opened = await openLedger(url)
    onTestFinished(opened.close)
    expect(await storedIds(opened, creates)).toEqual(creates)
    expect((await opened.ledger.list('shared', { page: 1, size: 1, created: always })).total).toBe(500)
    expect(await opened.ledgerAdmin.stats(0)).toMatchObject({ pending: 25, unknown: 0, mismatches: 0, idempotencyKeys: 25 })
    expect(await wrongPageIndex(url)).toEqual([])
  })

  test('L13: what was reported as stored is there after kill -9 at any moment', async () => {
    const { url, close } = await shared().openNew()
    await close()
    const confirmed: string[] = []
    for (const wanted of [1, 40]) {
      const writers = ['a', 'b'].map((name) => startWriter(url, `${name}${wanted}`, 10_000))
      const [first] = writers as [Writer]
      while (first.lines().length < wanted) await once(first.child.stdout as NodeJS.ReadableStream, 'data')
      for (const { child } of writers) child.kill('SIGKILL')
      await Promise.all(writers.map(({ ended }) => ended))
      confirmed.push(...writers.flatMap((writer) => writer.lines()).filter(isCreate))
    }
    expect(confirmed.length).toBeGreaterThan(30)
    const opened = await openLedger(url)
    onTestFinished(opened.close)
    expect(await storedIds(opened, confirmed)).toEqual(confirmed)
    expect(await wrongPageIndex(url)).toEqual([])
  })

  test('processes that give numbers are killed with -9: another one goes on within seconds, and no number is missing or there twice', async () => {
    const { url, ...opened } = await shared().openNew()
    const numbers: number[] = []
    const read = async (): Promise<number> => {
      for (const { number = 0 } of await opened.events.ofOwner('shared', numbers.at(-1) ?? 0, 1_000)) numbers.push(number)
      return numbers.length
    }
    const writers = ['a', 'b'].map((name) => startWriter(url, name, 10_000))
    for (let kill = 0; kill < 8; kill++) {
      const wanted = numbers.length + 25
      await expect.poll(read, { interval: 10 }).toBeGreaterThan(wanted)
      const victim = writers[kill % 2] as Writer
      victim.child.kill('SIGKILL')
      await victim.ended
      writers[kill % 2] = startWriter(url, `${'ab'[kill % 2]}${kill}`, 10_000)
    }
    for (const { child } of writers) child.kill('SIGKILL')
    await Promise.all(writers.map(({ ended }) => ended))
    await expect.poll(() => opened.events.number().then(() => opened.events.waiting())).toMatchObject({ count: 0 })
    await read()
    // As they were read while others were given: who has seen one has seen all below.
    expect(numbers).toEqual(numbers.map((_, at) => at + 1))
    const owners = await query(
      url,
      'SELECT owner, count(*) AS count, count(DISTINCT number) AS numbers, max(number) AS last FROM transaction_events GROUP BY owner',
    )
    for (const { owner, count, numbers: given, last } of owners) expect([owner, count, given]).toEqual([owner, last, last])
    const unordered = await query(
      url,
      `SELECT earlier.id FROM transaction_events AS earlier JOIN transaction_events AS later
      ON later.provider = earlier.provider AND later.provider_id = earlier.provider_id AND later.transaction_number > earlier.transaction_number
      WHERE later.number < earlier.number`,
    )
    expect(unordered).toEqual([])
  })
})
