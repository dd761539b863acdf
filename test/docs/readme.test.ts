/** `README.md` and `CONTRIBUTING.md` agree with the package and its configuration. */
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../../package.json' with { type: 'json' }
import { loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'

const readme = readFileSync('README.md', 'utf8')
const contributing = readFileSync('CONTRIBUTING.md', 'utf8')

describe('README.md', () => {
  it('is short', () => {
    expect(readme.split('\n').length).toBeLessThan(180)
  })

  it('has a configuration for a real provider that is whole', () => {
    const [, sample = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? []
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
    const file = join(directory, 'gateway.yaml')
    writeFileSync(file, sample)
    copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
    expect(loadConfig(file, knownForms, {}).routing.providers).toEqual(['acme'])
    rmSync(directory, { recursive: true })
  })

  it('names every key and word of the configuration that is not yet supported', () => {
    const [, section = ''] = /^## What is not supported\n([\s\S]*?)^## /m.exec(readme) ?? []
    const rows = [...readFileSync('docs/configuration.md', 'utf8').matchAll(/^\| `(\S+)` .*\| (.*) \|$/gm)]
    const later = rows.flatMap(([, key = '', meaning = '']) => {
      const sentences = meaning.split('. ').filter((sentence) => /not yet supported|no effect yet/i.test(sentence))
      const words = sentences.flatMap((sentence) => [...sentence.matchAll(/`([^`]+)`/g)].map(([, word = '']) => word))
      return sentences.length > 0 ? [key, ...words] : []
    })
    expect(rows.length).toBeGreaterThan(80)
    expect(later.filter((name) => !section.includes(`\`${name}`))).toEqual([])
  })
})

describe('CONTRIBUTING.md', () => {
  it('names every script of the package', () => {
    const scripts = Object.keys(manifest.scripts).filter((name) => !['prepack', 'swapgate'].includes(name))
    const isNamed = (name: string): boolean =>
      [`\`${name}\``, `npm ${name} `, `npm run ${name} `].some((text) => contributing.includes(text))
    expect(scripts.filter((name) => !isNamed(name))).toEqual([])
  })
})

it('the pages have commands that the package has', () => {
  const pages = ['README.md', 'CONTRIBUTING.md', 'docs/tour.md', 'docs/benchmarks.md'].map((page) => readFileSync(page, 'utf8'))
  const commands = pages.flatMap((page) => [...page.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name))
  expect(commands.length).toBeGreaterThan(12)
  expect(commands.filter((name) => !(name in manifest.scripts))).toEqual([])
})
