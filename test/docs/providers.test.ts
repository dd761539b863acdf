/** The pages of real providers: each is of a form, and `swapgate check` accepts its example. */
import { copyFileSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { providersPage } from '../../scripts/providers-matrix.ts'
import { check } from '../../src/cli/check.ts'
import { providerForms } from '../../src/forms/index.ts'
import { changellyKey } from '../support/changelly.ts'

afterEach(() => void vi.unstubAllEnvs())

it('docs/providers/README.md has what each form can (npm run docs:providers writes it)', () => {
  const text = readFileSync('docs/providers/README.md', 'utf8')
  expect(text).toBe(providersPage(text))
})

it('what each form can is a row for each ability, a column for each form', () => {
  const rows = readFileSync('docs/providers/README.md', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .slice(1, -1)
        .split('|')
        .map((cell) => cell.trim()),
    )
  const [header = []] = rows
  expect(header.map((cell) => /`(\w+)`/.exec(cell)?.[1])).toEqual([undefined, ...providerForms.map(({ name }) => name)])
  const cellOf = (ability: string, form: string): string | undefined =>
    rows.find(([name]) => name === ability)?.[header.findIndex((cell) => cell.includes(`\`${form}\``))]
  expect(cellOf('Rates', 'sideshift')).toBe('fixed')
  expect(cellOf('By the amount received', 'changenow')).toBe('fixed')
  expect(cellOf('By the amount received', 'A')).toBe('both with `amountTo: true`')
  expect(cellOf('Refund: hash, amount', 'sideshift')).toBe('yes, –')
  expect(cellOf('Action `continue`', 'changenow')).toBe('yes')
  expect(cellOf("The clients' own keys", 'changelly')).toBe('no: calls are signed')
  expect(cellOf('HTTP calls: quote, create, create at a fixed rate', 'stealthex')).toBe('2, 1, 3')
})

describe.each(globSync('docs/providers/*.md').filter((page) => basename(page) !== 'README.md'))('%s', (page) => {
  const name = basename(page, '.md')
  const text = readFileSync(page, 'utf8')
  const form = providerForms.find((candidate) => candidate.name === name)

  it('has an example that check accepts', async () => {
    const [, sample = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(text) ?? []
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-page-'))
    const file = join(directory, 'gateway.yaml')
    const key = form?.credential.isSignature ? changellyKey : 'a-key-of-the-operator'
    for (const [, variable = ''] of sample.matchAll(/\$\{([A-Z_]+)\}/g)) vi.stubEnv(variable, key)
    writeFileSync(file, `${sample}ledger: { url: "sqlite:${join(directory, 'ledger')}" }\n`)
    copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
    const lines: string[] = []
    const out = (line: string): number => lines.push(line)
    const exitCode = await check(file, { json: false, live: false }, { out, err: out } as never)
    rmSync(directory, { recursive: true })
    expect([exitCode, lines.join('\n')]).toEqual([0, expect.stringContaining(name)])
    expect(lines.some((line) => line.includes('not found again'))).toBe(form?.operation('listTransactions') === undefined)
  })
})
