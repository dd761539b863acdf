import { pipeline } from 'node:stream/promises'

/** Where a command writes, a line at a time: facts to `out`, complaints to `err`. */
export interface Terminal {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Writes lines to where `out` does, no faster than they are taken there. Throws where nobody takes them. */
  readonly stream: (lines: AsyncIterable<string>) => Promise<void>
}

/** The process's own. */
export const terminal: Terminal = {
  out: console.log,
  err: console.error,
  stream: (lines) => pipeline(ended(lines), process.stdout, { end: false }),
}

async function* ended(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`
}

/** Says why a command does not do what it was told; its exit code. */
export function refuse(why: string, { err }: Terminal): 1 {
  err(`swapgate: ${why}`)
  return 1
}
