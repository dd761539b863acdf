/** The configuration and the commands that pages show are taken by the gateway and the package. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'

it('README.md has a configuration for a real provider that is whole', () => {
  const [, sample = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readFileSync('README.md', 'utf8')) ?? []
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
  const file = join(directory, 'gateway.yaml')
  writeFileSync(file, sample)
  copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
  expect(loadConfig(file, knownForms, {}).routing.providers).toEqual(['acme'])
  rmSync(directory, { recursive: true })
})

it('the pages have commands that the package has', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'docs/tour.md', 'docs/benchmarks.md', 'docs/scaling.md'].map((page) =>
    readFileSync(page, 'utf8'),
  )
  const commands = pages.flatMap((page) => [...page.matchAll(/npm run (?:--silent )?([a-z:-]+)/g)].map(([, name = '']) => name))
  expect(commands.length).toBeGreaterThan(12)
  expect(commands.filter((name) => !(name in manifest.scripts))).toEqual([])
})
