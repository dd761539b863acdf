/** The package as a library. Plain JavaScript without imports, so that an older Node can run it and name the required version. */
const needed = 26
const { getBuiltinModule, versions } = process
if (Number(versions.node.split('.')[0]) < needed) {
  throw new Error(`swapgate needs Node ${needed} and this is ${versions.node}: install Node ${needed}`)
}

const { createRequire } = getBuiltinModule('node:module')
const { existsSync } = getBuiltinModule('node:fs')
// A package contains compiled code, a clone the sources.
const entry = existsSync(new URL('index.ts', import.meta.url)) ? './index.ts' : '../dist/index.js'
export const { ConfigError, createSwapgate, loadConfig, start } = createRequire(import.meta.url)(entry)
