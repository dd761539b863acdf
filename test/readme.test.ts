import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import manifest from '../package.json' with { type: 'json' }
import { loadConfig } from '../src/config.ts'
import { forms } from '../src/forms/index.ts'
import { freePorts } from './container/ports.ts'
import { Swapgate } from './process/swapgate.ts'
import { lastingPart, take, toursOf } from './readme/tour.ts'

const readme = readFileSync('README.md', 'utf8')
const tours = toursOf(readme)
const hasCurl = spawnSync('curl', ['--version']).status === 0

/** A copy of the default configuration, on free ports, with this provider in front. */
async function workplace(provider: string) {
  const ports = await freePorts()
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-readme-'))
  const file = join(directory, 'gateway.yaml')
  const standard = ports.move(readFileSync('config/gateway.yaml', 'utf8'))
  writeFileSync(file, standard.replace('providers: [alpha]', `providers: [${provider}]`))
  copyFileSync('config/assets.yaml', join(directory, 'assets.yaml'))
  return { directory, file, ports, [Symbol.dispose]: () => rmSync(directory, { recursive: true }) }
}

describe.runIf(hasCurl)('the tours of the README', () => {
  it('are there', () => {
    expect([...tours.keys()]).toEqual(['alpha', 'beta'])
  })

  it.concurrent.each([...tours])(
    'show what comes back, with %s in front',
    async (provider, steps) => {
      using place = await workplace(provider)
      await using swapgate = new Swapgate(['start', '--config', place.file], { cwd: place.directory })
      await swapgate.urls()
      const printed = await take(steps, place.ports.move)
      expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(place.ports.move(shown))))
    },
    30_000,
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

  it('has links to files that are there', () => {
    const links = [...readme.matchAll(/\]\(([^)#:]+)\)/g)].map(([, path = '']) => path)
    expect(links.length).toBeGreaterThan(3)
    for (const path of links) expect(() => readFileSync(path), path).not.toThrow('ENOENT')
  })
})
