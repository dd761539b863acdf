/** Hands text over; `taken` is called once, with an error where it was lost. */
export type Write = (text: string, done: (error?: Error | null) => void) => void

/** Characters that may wait, handed over or not; what comes beyond is lost. */
const maxCharacters = 1_048_576
/** Characters that are handed over at once; fewer wait so many milliseconds for more. */
const flushCharacters = 16_384
const flushDelayMs = 20

/** Lines that wait for whoever takes them: the process never does. What is lost is counted. */
export class Sink {
  dropped = 0
  private readonly target: Write
  private text = ''
  private lines = 0
  /** Characters that were handed over and are not taken yet. */
  private inFlightCharacters = 0
  private timer: NodeJS.Timeout | undefined
  private onDone = (): void => {}

  constructor(target: Write) {
    this.target = target
  }

  /** `line` ends with a line break. */
  write(line: string): void {
    if (this.inFlightCharacters + this.text.length + line.length > maxCharacters) {
      this.dropped++
      return
    }
    this.text += line
    this.lines++
    // While something is on its way, more gathers behind it.
    if (this.text.length >= flushCharacters && this.inFlightCharacters === 0) this.flush()
    else this.timer ??= setTimeout(() => this.flush(), flushDelayMs).unref()
  }

  /** Hands over what waits: true when all is taken, false where it is not after so many milliseconds. */
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
