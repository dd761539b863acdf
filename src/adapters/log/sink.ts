/** Hands text over; `taken` is called once, with an error where it was lost. */
export type Write = (text: string, taken: (error?: Error | null) => void) => void

/** Characters that may wait, handed over or not; what comes beyond is lost. */
const most = 1_048_576
/** Characters that are handed over at once; fewer wait so many milliseconds for more. */
const enough = 16_384
const pause = 20

/** Lines that wait for whoever takes them: the process never does. What is lost is counted. */
export class Sink {
  dropped = 0
  private readonly target: Write
  private text = ''
  private lines = 0
  /** Characters that were handed over and are not taken yet. */
  private owed = 0
  private timer: NodeJS.Timeout | undefined
  private onTaken = (): void => {}

  constructor(target: Write) {
    this.target = target
  }

  /** `line` ends with a line break. */
  write(line: string): void {
    if (this.owed + this.text.length + line.length > most) {
      this.dropped++
      return
    }
    this.text += line
    this.lines++
    // While something is on its way, more gathers behind it.
    if (this.text.length >= enough && this.owed === 0) this.flush()
    else this.timer ??= setTimeout(() => this.flush(), pause).unref()
  }

  /** Hands over what waits: true when all is taken, false where it is not after so many milliseconds. */
  async end(patience: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    this.onTaken = () => {
      if (this.owed === 0 && this.text === '') resolve(true)
    }
    this.flush()
    this.onTaken()
    const timer = setTimeout(resolve, patience, false)
    const isTaken = await promise
    clearTimeout(timer)
    return isTaken
  }

  private flush(): void {
    clearTimeout(this.timer)
    this.timer = undefined
    const { text, lines } = this
    if (text === '') return
    this.text = ''
    this.lines = 0
    this.owed += text.length
    this.target(text, (error) => {
      this.owed -= text.length
      if (error) this.dropped += lines
      this.onTaken()
    })
  }
}
