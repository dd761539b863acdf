/** Shows how a provider is replaced while clients swap: `npm run demo:switch`. A line for each step, in under a minute. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ownForms } from '../test/switching/providers.ts'
import { runStory } from '../test/switching/story.ts'

const directory = mkdtempSync(join(tmpdir(), 'swapgate-demo-'))
const startedAt = performance.now()
const report = (line: string): void => console.log(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${line}`)
const { complaints, created, applied, ledger, afterDrain } = await runStory({
  directory,
  start: ownForms(directory),
  clients: 50,
  swapsPerStep: 40,
  report,
})
rmSync(directory, { recursive: true })
report(
  `clients created ${JSON.stringify(created)}, providers applied ${JSON.stringify(applied)}, the ledger has ${JSON.stringify(ledger)}`,
)
report(`alpha got ${afterDrain} quotes or creates after it was drained; clients complained ${complaints.length} times`)
process.exit(complaints.length === 0 ? 0 : 1)
