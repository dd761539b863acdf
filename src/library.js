/** The package as a library. Plain JavaScript without imports, so that an older Node can run it and name the required version. */
const needed = 26
const { getBuiltinModule, versions } = process
if (Number(versions.node.split('.')[0]) < needed) {
  throw new Error(`swapgate needs Node ${needed} and this is ${versions.node}: install Node ${needed}`)
}

const { createRequire } = getBuiltinModule('node:module')
export const { ConfigError, createSwapgate, loadConfig, start } = createRequire(import.meta.url)('../dist/index.js')
