#!/usr/bin/env node
// Plain JavaScript that imports nothing of the package, so that an older Node, or one without packages, can run it and print what is needed.
import { existsSync } from 'node:fs'

const needed = 26
const [major] = process.versions.node.split('.')
// A package contains compiled code, since Node does not run TypeScript below node_modules; a clone contains the sources.
const isClone = existsSync(new URL('command.ts', import.meta.url))

if (isClone && !existsSync(new URL('../../node_modules', import.meta.url))) {
  console.error('swapgate: its packages are not installed: run "npm ci" first')
  process.exitCode = 1
} else if (Number(major) < needed) {
  // npm puts the Node that came with the packages first.
  const withNpm = isClone ? 'npm start" or "npm run swapgate' : 'npm exec --no -- swapgate'
  console.error(`swapgate needs Node ${needed} and this is ${process.versions.node}: use "${withNpm}", or install Node ${needed}`)
  process.exitCode = 1
} else {
  // Before the first use of libuv's pool of threads. A look-up of a name takes one until the name server answers or is given up.
  process.env.UV_THREADPOOL_SIZE ??= '64'
  // The compile cache is beside the libraries: only users who may change the code can write there. If it is not writable,
  // Node compiles again.
  process.getBuiltinModule('node:module').enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/swapgate`)
  const compiled = '../../dist/cli'
  const [{ run }, { terminal }] = isClone
    ? await Promise.all([import('./command.ts'), import('./terminal.ts')])
    : await Promise.all([import(`${compiled}/command.js`), import(`${compiled}/terminal.js`)])
  process.exitCode = await run(process.argv.slice(2), terminal)
}
