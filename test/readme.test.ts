// Takes long: the tours of the page are taken.
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { loadConfig } from '../src/config.ts'
import { forms } from '../src/forms/index.ts'
import { lastingPart, repetitions, type Step, toursOf } from './readme/tour.ts'
import { workplace } from './readme/workplace.ts'

const readme = readFileSync('README.md', 'utf8')
const tours = toursOf(readme)
const hasCurl = spawnSync('curl', ['--version']).status === 0

/** The configuration of each tour. */
const configurations = { alpha: undefined, beta: 'beta', managed: 'managed' } as const

describe.runIf(hasCurl)('the tours of the README', () => {
  it('are there', () => {
    expect([...tours.keys()]).toEqual(Object.keys(configurations))
  })

  it.concurrent.each(Object.entries(configurations))(
    'show what comes back: %s',
    async (name, configuration) => {
      const steps = tours.get(name) as readonly Step[]
      using place = await workplace(configuration)
      const printed = await place.take(steps)
      expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(place.move(shown))))
      expect(repetitions(printed)).toEqual(repetitions(steps.map(({ shown }) => shown)))
    },
    60_000,
  )
})

describe('what the README tells', () => {
  it('has commands that the package has', () => {
    const commands = [...readme.matchAll(/npm run (?:--silent )?([a-z:]+)/g)].map(([, name = '']) => name)
    expect(commands.length).toBeGreaterThan(3)
    expect(commands.filter((name) => !(name in manifest.scripts))).toEqual([])
  })

  it('has a configuration for a real provider that is whole', () => {
    const [, sample = ''] = /^```yaml\n([\s\S]*?)^```$/m.exec(readme) ?? []
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
    const file = join(directory, 'gateway.yaml')
    writeFileSync(file, sample)
    copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
    expect(loadConfig(file, forms, {}).routing.providers).toEqual(['acme'])
    rmSync(directory, { recursive: true })
  })
})

describe('links to files that are there', () => {
  const own = ['README.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'dashboards/README.md']
  const pages = [...own, ...globSync('docs/**/*.md')]
  it.each(pages)('%s', (page) => {
    const links = [...readFileSync(page, 'utf8').matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, path = '']) => path)
    expect(links.filter((path) => !existsSync(join(dirname(page), path)))).toEqual([])
  })
})
