// Takes long: it runs the tours of the pages.
/** `README.md` and `docs/tour.md` show commands with what they print: each tour runs in a shell, with its own gateway. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { lastingPart, repetitions, type Step, toursOf } from './tour.ts'
import { tourDirectory } from './tour-directory.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

/** The tours of each page, and the configuration of each tour. */
const pages = {
  'README.md': { start: undefined },
  'docs/tour.md': { alpha: undefined, beta: 'beta', managed: 'managed' },
} as const

describe.runIf(hasCurl).each(Object.entries(pages))('the tours of %s', (page, configurations) => {
  const tours = toursOf(readFileSync(page, 'utf8'))

  it('are there', () => {
    expect([...tours.keys()]).toEqual(Object.keys(configurations))
  })

  it.concurrent.each(Object.entries(configurations))(
    'show what comes back: %s',
    async (name, configuration) => {
      const steps = tours.get(name) as readonly Step[]
      using place = await tourDirectory(configuration)
      const printed = await place.take(steps)
      expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(place.move(shown))))
      expect(repetitions(printed)).toEqual(repetitions(steps.map(({ shown }) => shown)))
    },
    60_000,
  )
})
