// Runs alone: it measures a time.

import { expect, it } from 'vitest'
import { slowness } from '../support/slowness.ts'
import { ConfigDirectory, Swapgate, sourceProgram } from './swapgate.ts'

const configuration = `
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }
routing: { providers: [alpha] }
sandbox: { enabled: true, port: 0 }
`

it('swapgate start listens within two seconds', async () => {
  using directory = new ConfigDirectory()
  const file = directory.write(configuration)
  const maxMs = 2_000 * slowness()
  const took: number[] = []
  // A machine that is busy with something else makes one start slow, seldom three.
  while (took.length < 3 && !took.some((time) => time < maxMs)) {
    const began = performance.now()
    await using swapgate = new Swapgate(['start', '--config', file], { program: sourceProgram, cwd: directory.path })
    expect((await fetch(`${(await swapgate.urls()).get('gateway')}/nowhere`)).status).toBe(404)
    took.push(performance.now() - began)
  }
  expect(Math.min(...took)).toBeLessThan(maxMs)
})
