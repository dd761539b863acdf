import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
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

/** Reads one line of the input; on a terminal without an echo, after `question`. */
export async function readSecret({ input, err }: Terminal, question: string): Promise<string> {
  const source = input()
  const isTerminal = source.isTTY === true
  if (isTerminal) err(question)
  // With an output of its own, readline echoes there, and takes the terminal's echo away.
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const lines = createInterface({ input: source, output: silent, terminal: isTerminal })
  try {
    for await (const line of lines) return line.trim()
    return ''
  } finally {
    lines.close()
    source.destroy()
  }
}

/** Prints why a command is refused. Returns the exit code. */
export function refuse(why: string, { err }: Terminal): 1 {
  err(`swapgate: ${why}`)
  return 1
}
