/** A start uses what Node has compiled: V8 refuses compiled code under other flags than it was compiled with. */
import { expect, it } from 'vitest'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

/** Prints how many of Node's own modules are loaded when a flag of V8 is set, and how many in the end. */
const counter = `
import v8 from 'node:v8'
import { syncBuiltinESMExports } from 'node:module'
const loaded = () => process.moduleLoadList.filter((name) => name.startsWith('NativeModule')).length
const set = v8.setFlagsFromString
const counts = {}
v8.setFlagsFromString = (flag) => {
  counts[flag] = loaded()
  set(flag)
}
syncBuiltinESMExports()
process.on('exit', () => console.log('counts', JSON.stringify({ counts, all: loaded() })))
`

const configuration = `
server: { port: 0, grace: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }
routing: { providers: [alpha] }
`

it('the flag of V8 is set when the modules are loaded', async () => {
  using directory = new ConfigDirectory()
  const options = `--import data:text/javascript,${encodeURIComponent(counter)}`
  await using swapgate = new Swapgate(['start', '--config', directory.write(configuration)], { env: { NODE_OPTIONS: options } })
  await swapgate.urls()
  swapgate.child.kill('SIGTERM')
  const { out } = await swapgate.ended
  const { counts, all } = JSON.parse(/^counts (.*)$/m.exec(out)?.[1] ?? '{}')
  expect(Object.keys(counts)).toEqual(['--no-allocation-site-pretenuring'])
  // Some of their own parts are loaded when they are needed.
  expect(counts['--no-allocation-site-pretenuring'] / all).toBeGreaterThan(0.9)
})
