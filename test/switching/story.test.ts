// Takes longest: clients swap while a provider is replaced.
// Runs alone: a hundred clients and two gateways take the whole machine.
/** docs/contract-operators.md §12: providers are switched while swaps are in flight, and no client notices. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ownForms } from './providers.ts'
import { runStory } from './story.ts'

it('100 clients swap on while alpha is shadowed, replaced, drained and killed', { timeout: 600_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-story-'))
  const lines: string[] = []
  const result = await runStory({
    directory,
    start: ownForms(directory),
    clients: 100,
    swapsPerStep: 50,
    report: (line) => lines.push(line),
  })
  rmSync(directory, { recursive: true })
  expect(result.complaints.slice(0, 20), lines.join('\n')).toEqual([])
  expect(result.applied).toEqual(result.created)
  expect(result.ledger).toEqual(result.created)
  expect(result.created.alpha).toBeGreaterThan(100)
  expect(result.created.beta).toBeGreaterThan(100)
  expect(result.afterDrain).toBe(0)
  expect(result.diff.onlyFirst).toEqual([])
  expect(result.shadow?.samples).toBeGreaterThan(0)
  const [before, shadowed, tenth, half, all, after] = result.betaShares
  expect([before, shadowed]).toEqual([0, 0])
  expect(tenth).toBeLessThan(0.35)
  expect(half).toBeGreaterThan(tenth ?? 1)
  expect([all, after]).toEqual([1, 1])
})
