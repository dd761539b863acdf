/** The flag of V8: after Node's modules, whose compiled code V8 would refuse, and before ours, of which V8 would promote objects. */
import { expect, it } from 'vitest'
import { ConfigDirectory, Swapgate } from './swapgate.ts'

/** Prints how many modules of Node and how many files are loaded when the flag is set, and how many modules of Node in the end. */
const counter = `
import v8 from 'node:v8'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
let files = 0
registerHooks({
  load(url, context, nextLoad) {
    if (url.startsWith('file:')) files++
    return nextLoad(url, context)
  },
})
const modules = () => process.moduleLoadList.filter((name) => name.startsWith('NativeModule')).length
const set = v8.setFlagsFromString
const flags = []
v8.setFlagsFromString = (flag) => {
  flags.push({ flag, modules: modules(), files })
  set(flag)
}
syncBuiltinESMExports()
process.on('exit', () => console.log('counts', JSON.stringify({ flags, modules: modules(), files })))
`

const configuration = `
server: { port: 0, shutdownDelay: 0 }
admin: { port: 0 }
providers: { alpha: { form: A, url: "http://127.0.0.1:1/api/v2" } }
routing: { providers: [alpha] }
`

it("the flag of V8 is set when Node's modules are loaded, and ours are not", async () => {
  using directory = new ConfigDirectory()
  const options = `--import data:text/javascript,${encodeURIComponent(counter)}`
  await using swapgate = new Swapgate(['start', '--config', directory.write(configuration)], { env: { NODE_OPTIONS: options } })
  await swapgate.urls()
  swapgate.child.kill('SIGTERM')
  const { out } = await swapgate.ended
  const { flags, modules, files } = JSON.parse(/^counts (.*)$/m.exec(out)?.[1] ?? '{}')
  expect(flags).toEqual([{ flag: '--no-allocation-site-pretenuring', modules: expect.any(Number), files: 1 }])
  expect(files).toBeGreaterThan(1)
  // Some of their own parts are loaded when they are needed.
  expect(flags[0].modules / modules).toBeGreaterThan(0.9)
})
