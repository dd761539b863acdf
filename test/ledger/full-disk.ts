/** Writes to a ledger until the disk is full, then tries three times more: `full-disk.ts <url>`. */
import { openLedger } from '../../src/ledger/index.ts'
import { facts } from './samples.ts'

const [url = ''] = process.argv.slice(2)
const lines: string[] = []
const { ledger, close } = await openLedger(url, { onTrouble: ({ cause, message }) => void lines.push(`${cause}: ${message}`) })
const reasons: string[] = []
let kept = 0
while (reasons.length < 3 && kept < 10_000) {
  try {
    await ledger.upsert('owner', 'alpha', facts(`${kept}`))
    kept++
  } catch (reason) {
    if (!(reason instanceof Error)) throw reason
    reasons.push(reason.message)
  }
}
if (!(await ledger.find('owner', 'alpha', '0'))) throw new Error('What was kept is not read any more.')
await close()
process.stdout.write(JSON.stringify({ kept, reasons, lines }))
