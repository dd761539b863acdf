/**
 * A preload of node for a system whose look-ups of `*.silent` get no answer: each takes a thread of the pool, to open a pipe that nobody
 * writes. Each name that it is asked for is a line. Once somebody opens the pipe to write, those that wait fail for the moment.
 */
export function silentSystem(pipe: string): string {
  return `data:text/javascript,${encodeURIComponent(`
import dns from 'node:dns'
import fs from 'node:fs'
const { lookup } = dns
dns.lookup = (name, ...rest) => {
  if (!name.endsWith('.silent')) return lookup(name, ...rest)
  console.log('asked', name)
  fs.open(${JSON.stringify(pipe)}, 'r', (_, file) => {
    fs.close(file, () => rest.at(-1)(Object.assign(new Error('no answer'), { code: 'EAI_AGAIN' })))
  })
}
`)}`
}
