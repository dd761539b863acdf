// What the JSON reports of vitest say. `files <report>`: the files that failed. `counts <report> [<report of the second run>]`: how many tests.
import { readFileSync } from 'node:fs'
import { relative } from 'node:path'

const [question, ...paths] = process.argv.slice(2)
const reports = paths.map((path) => JSON.parse(readFileSync(path, 'utf8')))
const failed = ({ testResults }) => testResults.filter(({ status }) => status === 'failed')

if (question === 'files') {
  for (const { name } of failed(reports[0])) console.log(relative(process.cwd(), name))
} else {
  const [first] = reports
  const last = reports.at(-1)
  const lastNames = new Set(last.testResults.map(({ name }) => name))
  const results = first === last ? first.testResults : [...first.testResults.filter(({ name }) => !lastNames.has(name)), ...last.testResults]
  const tests = results.flatMap(({ assertionResults }) => assertionResults)
  const count = (status) => tests.filter((test) => test.status === status).length
  const broken = failed({ testResults: results }).filter(({ assertionResults }) => !assertionResults.some(({ status }) => status === 'failed')).length
  const skipped = tests.length - count('passed') - count('failed')
  console.log(`${count('passed')} passed, ${count('failed') + broken} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
}
