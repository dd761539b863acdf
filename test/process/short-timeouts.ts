/** Shortens the connection timeouts of a gateway, so that no test waits a minute for them. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownLoad } from '../support/own-load.ts'

/** The environment of a gateway whose connection timeouts are `times` times shorter. */
export function shortTimeouts(directory: string, times: number): Record<string, string> {
  const file = join(directory, 'short-timeouts.mjs')
  writeFileSync(file, preload(times))
  return { NODE_OPTIONS: `--import=${file} ${ownLoad}` }
}

/** Divides the timeouts of Node's server by this. */
const preload = (times: number): string => `
import http from 'node:http'
import { syncBuiltinESMExports } from 'node:module'
const { createServer } = http
const limits = ['headersTimeout', 'requestTimeout', 'connectionsCheckingInterval']
http.createServer = (options, listener) => {
  const sooner = Object.fromEntries(limits.map((name) => [name, options[name] / ${times}]))
  return createServer({ ...options, ...sooner }, listener)
}
syncBuiltinESMExports()
`
