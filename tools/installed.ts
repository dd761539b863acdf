/** Ends with 1 and one line if the tools are not installed. */
import { existsSync } from 'node:fs'

if (!existsSync(new URL('node_modules/', import.meta.url))) {
  console.error('This command needs the tools: npm --prefix tools ci')
  process.exitCode = 1
}
