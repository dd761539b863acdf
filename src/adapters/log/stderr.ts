/** node:fs: writes to standard error of any kind without waiting for its reader. */
import { fstatSync, write as writeFile } from 'node:fs'
import { isatty } from 'node:tty'

const descriptor = 2
const ignore = (): void => {}

export interface Stderr {
  readonly write: Write
  readonly isTerminal: boolean
  readonly hasColours: boolean
}

/** The event loop waits for a full pipe or socket; a thread waits for a slow file. `mayColour`: where it is a terminal that can. */
export function openStderr(mayColour: boolean): Stderr {
  const stats = fstatSync(descriptor)
  const isStream = stats.isFIFO() || stats.isSocket()
  const isTerminal = isatty(descriptor)
  const hasColours = mayColour && isTerminal && process.stderr.hasColors()
  return { write: isStream ? toStream() : toFile, isTerminal, hasColours }
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

/** Writes text; calls `done` once, with an error if the text was lost. */
export type Write = (text: string, done: (error?: Error | null) => void) => void

/** Waiting characters, in the buffer or in the write, above which lines that may be lost are dropped. */
const maxCharacters = 1_048_576
/** Above this every line is dropped: some 40,000 errors in a row that nobody reads. */
const maxCharactersOfOthers = 16 * maxCharacters
/** The buffer is written at this size, or after `flushDelayMs`. Each write wakes a thread. */
const flushCharacters = 65_536
const flushDelayMs = 20

/** Buffers lines for a slow reader, so that the process never waits. Counts dropped lines. */
export class Sink {
  dropped = 0
  private readonly target: Write
  private text = ''
  private lines = 0
  /** Characters of the running write. */
  private inFlightCharacters = 0
  private timer: NodeJS.Timeout | undefined
  private onDone = (): void => {}

  constructor(target: Write) {
    this.target = target
  }

  /** `line` ends with a line break. `mayBeLost`: others have a reserve. */
  write(line: string, mayBeLost: boolean): void {
    const limit = mayBeLost ? maxCharacters : maxCharactersOfOthers
    if (this.inFlightCharacters + this.text.length + line.length > limit) {
      this.dropped++
      return
    }
    this.text += line
    this.lines++
    // During a write the buffer collects further lines.
    if (this.text.length >= flushCharacters && this.inFlightCharacters === 0) this.flush()
    else this.timer ??= setTimeout(() => this.flush(), flushDelayMs).unref()
  }

  /** Writes the buffer. Returns false if not all is written after `timeoutMs`. */
  async end(timeoutMs: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.onDone = () => {
      if (this.inFlightCharacters === 0 && this.text === '') resolve(true)
    }
    this.flush()
    this.onDone()
    const timer = setTimeout(resolve, timeoutMs, false)
    const isDone = await promise
    clearTimeout(timer)
    return isDone
  }

  private flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { text, lines } = this
    if (text === '') return
    this.text = ''
    this.lines = 0
    this.inFlightCharacters += text.length
    this.target(text, (error) => {
      this.inFlightCharacters -= text.length
      if (error) this.dropped += lines
      this.onDone()
    })
  }
}
