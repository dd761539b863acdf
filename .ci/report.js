// What the JSON reports of vitest say. `files <report>`: the files that failed. `counts <report> …`: how many tests; of a file in several, the last report counts.
import { existsSync, readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [question, ...paths] = process.argv.slice(2)
const reports = paths.filter((path) => existsSync(path)).map((path) => JSON.parse(readFileSync(path, 'utf8')))
const results = [...new Map(reports.flatMap(({ testResults }) => testResults.map((result) => [result.name, result]))).values()]
const failed = results.filter(({ status }) => status === 'failed')

if (question === 'files') {
  for (const { name } of failed) console.log(relative(process.cwd(), name))
} else {
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const count = (status) => tests.filter((test) => test.status === status).length
  const broken = failed.filter(({ assertionResults }) => !assertionResults.some(({ status }) => status === 'failed')).length
  const skipped = tests.length - count('passed') - count('failed')
  console.log(`${count('passed')} passed, ${count('failed') + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
}
