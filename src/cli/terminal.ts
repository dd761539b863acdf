import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { printable } from '../domain/printable.ts'

/** Input and output of a command, line by line: results to `out`, errors and warnings to `err`. */
export interface Terminal {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Writes lines to the same place as `out`, with backpressure. Throws if the reader has closed it. */
  readonly stream: (lines: AsyncIterable<string>) => Promise<void>
  /** Opens the input. */
  readonly input: () => Readable & { readonly isTTY?: boolean }
}

/** The terminal that every command prints to: no text of a provider or a client controls it, and each line is one. */
export function guarded({ out, err, stream, input }: Terminal): Terminal {
  return {
    out: (line) => out(printable(line)),
    err: (line) => err(printable(line)),
    stream: (lines) => stream(printableLines(lines)),
    input,
  }
}

async function* printableLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield printable(line)
}

/** Prints a text of several lines. */
export function eachLine(text: string, print: (line: string) => void, separator: string | RegExp = '\n'): void {
  for (const line of text.trimEnd().split(separator)) print(line)
}

/** The terminal of this process. */
export const terminal: Terminal = {
  out: console.log,
  err: console.error,
  stream: (lines) => pipeline(ended(lines), process.stdout, { end: false }),
  input: () => process.stdin,
}

async function* ended(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield `${line}\n`
}

/** Prints why a command is refused. Returns the exit code. */
export function refuse(why: string, { err }: Terminal): 1 {
  err(`swapgate: ${why}`)
  return 1
}
