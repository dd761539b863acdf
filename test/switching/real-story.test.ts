// Takes long: clients swap while a provider is replaced.
// Runs alone: many clients and two gateways share the machine.
/** docs/contract.md §16: Exolix is replaced by ChangeNOW while swaps are in flight, and no client of Form A or B notices. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { changenow } from '../providers/stand-ins/changenow.ts'
import { exolix } from '../providers/stand-ins/exolix.ts'
import { realProviders } from './providers.ts'
import { runStory } from './story.ts'

const start = realProviders({
  alpha: {
    dialect: exolix,
    words: { wait: 'wait', confirmation: 'confirmation', exchanging: 'exchanging', success: 'success' },
  },
  beta: {
    dialect: changenow,
    words: { wait: 'waiting', confirmation: 'confirming', exchanging: 'exchanging', success: 'finished' },
  },
})

it('40 clients swap on while Exolix is shadowed, replaced by ChangeNOW, drained and killed', { timeout: 600_000 }, async () => {
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-story-'))
  const lines: string[] = []
  const result = await runStory({ directory, start, clients: 40, swapsPerStep: 25, report: (line) => lines.push(line) })
  rmSync(directory, { recursive: true })
  expect(result.complaints.slice(0, 20), lines.join('\n')).toEqual([])
  expect(result.applied).toEqual(result.created)
  expect(result.ledger).toEqual(result.created)
  expect(result.created.alpha).toBeGreaterThan(40)
  expect(result.created.beta).toBeGreaterThan(40)
  expect(result.afterDrain).toBe(0)
  expect(result.shadow?.samples).toBeGreaterThan(0)
  const [before, shadowed, tenth, half, all, after] = result.betaShares
  expect([before, shadowed]).toEqual([0, 0])
  expect(half).toBeGreaterThan(tenth ?? 1)
  expect([all, after]).toEqual([1, 1])
})
