// Takes long: mutants run in another process.
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import type { Report } from './run.ts'

/** A process of its own, so that Node and not vitest loads what the mutants import. */
async function run(): Promise<Report> {
  const child = promisify(execFile)(process.execPath, [join(import.meta.dirname, 'run.ts'), '--json'], { maxBuffer: 1e7 })
  const { stdout } = await child.catch((reason: { readonly stdout: string }) => reason)
  return JSON.parse(stdout) as Report
}

it('S10: the goldens notice every single mistake in the tables of the forms', { timeout: 300_000 }, async () => {
  const { scores, survivors } = await run()
  expect(survivors).toEqual([])
  for (const [kind, { killed, of }] of Object.entries(scores)) {
    expect(of, `mutants that change a ${kind}`).toBeGreaterThan(0)
    expect(killed, kind).toBe(of)
  }
  expect(scores['wire name']?.of, 'every name of every form, in one wrong spelling at least').toBeGreaterThan(900)
})
