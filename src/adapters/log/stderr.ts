/** node:fs: standard error, whatever it is, without ever waiting for whoever reads it. */
import { fstatSync, write as writeFile } from 'node:fs'
import { isatty } from 'node:tty'
import type { Write } from './sink.ts'

const descriptor = 2

export interface Stderr {
  readonly write: Write
  readonly isTerminal: boolean
}

/** A pipe or a socket that is full is waited for by the event loop; a file, which may be slow, by a thread. */
export function openStderr(): Stderr {
  const stats = fstatSync(descriptor)
  const isStream = stats.isFIFO() || stats.isSocket()
  return { write: isStream ? toStream() : toFile, isTerminal: isatty(descriptor) }
}

function toStream(): Write {
  const { stderr } = process
  // Whoever read it has gone: the callback of each write says so too.
  stderr.on('error', () => {})
  return (text, done) => void stderr.write(text, done)
}

function toFile(text: string, done: (error?: Error | null) => void): void {
  writeBytes(Buffer.from(text), done)
}

function writeBytes(bytes: Buffer, done: (error?: Error | null) => void): void {
  writeFile(descriptor, bytes, (error, written) => {
    if (error || written === bytes.length) done(error)
    else writeBytes(bytes.subarray(written), done)
  })
}
