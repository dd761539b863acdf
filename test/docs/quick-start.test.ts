// Takes long: it starts a gateway.
/** `README.md` shows commands with what they print: they run in a shell, with a gateway of their own. `session.test.ts` has the tour. */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { lastingPart, type Step, toursOf } from './tour.ts'
import { tourDirectory } from './tour-directory.ts'

const hasCurl = spawnSync('curl', ['--version']).status === 0

it.runIf(hasCurl)('the commands of the quick start print what is shown', async () => {
  const tours = toursOf(readFileSync('README.md', 'utf8'))
  expect([...tours.keys()]).toEqual(['start'])
  const steps = tours.get('start') as readonly Step[]
  using place = await tourDirectory()
  const printed = await place.take(steps)
  expect(printed.map(lastingPart)).toEqual(steps.map(({ shown }) => lastingPart(place.move(shown))))
})
