/** node:fs: writes to standard error of any kind without waiting for its reader. */
import { fstatSync, write as writeFile } from 'node:fs'
import { isatty } from 'node:tty'
import type { Write } from './sink.ts'

const descriptor = 2
const ignore = (): void => {}

export interface Stderr {
  readonly write: Write
  readonly isTerminal: boolean
}

/** The event loop waits for a full pipe or socket; a thread waits for a slow file. */
export function openStderr(): Stderr {
  const stats = fstatSync(descriptor)
  const isStream = stats.isFIFO() || stats.isSocket()
  return { write: isStream ? toStream() : toFile, isTerminal: isatty(descriptor) }
}

function toStream(): Write {
  const { stderr } = process
  // The reader has gone. The callback of each write reports it too. All gateways of the process share the listener.
  stderr.off('error', ignore).on('error', ignore)
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
