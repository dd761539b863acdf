#!/usr/bin/env node
// Plain JavaScript without imports, so that an older Node can read it and say what is missing.
const needed = 26
const [major] = process.versions.node.split('.')

if (Number(major) < needed) {
  console.error(
    `swapgate needs Node ${needed} and this is ${process.versions.node}: use "npm start" or "npx swapgate", or install Node ${needed}`,
  )
  process.exitCode = 1
} else {
  // Where thousands wait, V8 sees their requests grow old and makes all that follow old from the start. Dead ones then keep
  // others alive, and collecting them took a seventh of the time.
  process.getBuiltinModule('node:v8').setFlagsFromString('--no-allocation-site-pretenuring')
  // What was compiled is kept beside the libraries, where only who may change the code may write; elsewhere it is compiled anew.
  process.getBuiltinModule('node:module').enableCompileCache(`${import.meta.dirname}/../../node_modules/.cache/swapgate`)
  // A package holds what was compiled from the sources, which Node does not read below node_modules; a clone holds the sources.
  const isClone = process.getBuiltinModule('node:fs').existsSync(`${import.meta.dirname}/command.ts`)
  const compiled = '../../dist/cli'
  const [{ run }, { terminal }] = isClone
    ? await Promise.all([import('./command.ts'), import('./terminal.ts')])
    : await Promise.all([import(`${compiled}/command.js`), import(`${compiled}/terminal.js`)])
  process.exitCode = await run(process.argv.slice(2), terminal)
}
