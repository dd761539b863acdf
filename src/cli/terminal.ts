import { createInterface } from 'node:readline/promises'
import { type Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { isatty } from 'node:tty'
import { printable } from '../domain/printable.ts'

/** Input and output of a process, line by line: results to `out`, errors and warnings to `err`. */
export interface Streams {
  /** Whether `out` is read by a person. */
  readonly isTerminal: boolean
  readonly out: (line: string) => void
  readonly err: (line: string) => void
  /** Writes lines to the same place as `out`, with backpressure. Throws if the reader has closed it. */
  readonly stream: (lines: AsyncIterable<string>) => Promise<void>
  /** Opens the input. */
  readonly input: () => Readable & { readonly isTTY?: boolean }
  /** Waits until `out` has written all lines. Why one of them was lost; undefined if none was. */
  readonly loss: () => Promise<NodeJS.ErrnoException | undefined>
  /** Writes the beginning of the next line to `out` now, to see whether that can be written. */
  readonly begin: (start: string) => void
}

/** What a command prints to. */
export interface Terminal extends Omit<Streams, 'begin'> {
  /** A line about what the command has done: where the output is lost, `err` has it. */
  readonly done: (line: string) => void
  /** What the command has done, and has written what nobody else has: `err` has it where the rest is lost on a full disk. */
  readonly note: (line: string) => void
  /** Whether a line that begins so can be written. The next one to `out` is that line. */
  readonly canWrite: (start: string) => Promise<boolean>
}

interface CommandTerminal extends Terminal {
  /** The exit code, with what became of the output. A reader that has closed it has lost no more than it wanted, unless something was done. */
  readonly ended: (exitCode: number) => Promise<number>
}

/** The terminal of one command: no text of a provider or a client controls it, and each line is one. */
export function guarded({ isTerminal, out, err, stream, input, loss, begin }: Streams): CommandTerminal {
  const done: string[] = []
  const notes: string[] = []
  const print = (line: string): void => out(printable(line))
  const complain = (line: string): void => err(printable(line))
  return {
    isTerminal,
    out: print,
    err: complain,
    stream: (lines) => stream(printableLines(lines)),
    input,
    loss,
    done(line) {
      done.push(line)
      print(line)
    },
    note: (line) => notes.push(line),
    async canWrite(start) {
      begin(start)
      return (await loss()) === undefined
    },
    async ended(exitCode) {
      const reason = await loss()
      if (!reason || (reason.code === 'EPIPE' && done.length === 0)) return exitCode
      complain(`swapgate: the output was lost: ${reason.message}`)
      for (const line of notes) complain(`swapgate: ${line}`)
      for (const line of done) complain(`swapgate: not written: ${line}`)
      return exitCode === 0 ? 1 : exitCode
    },
  }
}

/** The same for a command that changes something: each of its lines is about what it has done. */
export function changing<With extends { readonly terminal: Terminal }>(session: With): With {
  const { terminal } = session
  return { ...session, terminal: { ...terminal, out: terminal.done } }
}

async function* printableLines(lines: AsyncIterable<string>): AsyncIterable<string> {
  for await (const line of lines) yield printable(line)
}

/** Prints a text of several lines. */
export function eachLine(text: string, print: (line: string) => void, separator: string | RegExp = '\n'): void {
  for (const line of text.trimEnd().split(separator)) print(line)
}

/** The streams of this process. */
export const terminal: Streams = openStreams()

/** `console` hides that a line was not written. */
function openStreams(): Streams {
  let lost: NodeJS.ErrnoException | undefined
  let begun = ''
  const note = (reason?: Error | null): void => {
    lost ??= reason ?? undefined
  }
  let written = Promise.resolve()
  const write = (text: string): void => {
    if (process.stdout.listenerCount('error', note) === 0) process.stdout.on('error', note)
    if (lost) return
    written = new Promise((resolve) => {
      process.stdout.write(text, (reason) => {
        note(reason)
        resolve()
      })
    })
  }
  const ignore = (): void => {}
  return {
    isTerminal: isatty(1),
    out(line) {
      write(`${line.slice(begun.length)}\n`)
      begun = ''
    },
    err(line) {
      if (process.stderr.listenerCount('error', ignore) === 0) process.stderr.on('error', ignore)
      process.stderr.write(`${line}\n`)
    },
    stream: (lines) => pipeline(ended(lines), process.stdout, { end: false }),
    input: () => process.stdin,
    async loss() {
      await written
      return lost
    },
    begin(start) {
      begun = start
      write(start)
    },
  }
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

/** Prints a line that nobody can print again, and what follows it. Whether that line was written. */
export async function printSecretFirst(secret: string, rest: readonly string[], { out, loss }: Terminal): Promise<boolean> {
  out(secret)
  if (await loss()) return false
  for (const line of rest) out(line)
  return true
}

/** Prints why a command is refused. Returns the exit code. */
export function refuse(why: string, { err }: Terminal): 1 {
  err(`swapgate: ${why}`)
  return 1
}
