/** Asks questions on standard error and reads a line for each from standard input: so they can be piped. */
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'

/** An invalid answer. The message never repeats it: it may be a key. */
export class InvalidAnswer extends Error {}

interface Question<T> {
  readonly question: string
  /** The option that answers it. */
  readonly flag: string
  readonly given: string | undefined
  /** The answer of an empty line, or of no line. */
  readonly preset?: string
  /** Throws an `InvalidAnswer`. */
  readonly parse: (text: string) => T
}

export type Ask = <T>(question: Question<T>) => Promise<T>

interface Prompt extends AsyncDisposable {
  readonly ask: Ask
}

/** On a terminal the prompt is repeated after an invalid answer; elsewhere it ends the command. Throws an `InvalidAnswer`. */
export function openPrompt(input: Readable & { readonly isTTY?: boolean }, print: (line: string) => void): Prompt {
  const lines = createInterface({ input, terminal: false })
  const answers = lines[Symbol.asyncIterator]()
  const ask: Ask = async ({ question, flag, given, preset, parse }) => {
    const parsed = (text: string) => {
      try {
        return parse(text)
      } catch (reason) {
        throw reason instanceof InvalidAnswer ? new InvalidAnswer(`${flag}: ${reason.message}`) : reason
      }
    }
    if (given !== undefined) return parsed(given)
    for (;;) {
      print(`${question}${preset === undefined ? '' : ` [${preset}]`}:`)
      const { value, done = false } = await answers.next()
      const text = done ? '' : String(value).trim()
      if (done && preset === undefined) throw new InvalidAnswer(`${flag} is missing`)
      try {
        return parsed(text === '' && preset !== undefined ? preset : text)
      } catch (reason) {
        if (!(reason instanceof InvalidAnswer) || !input.isTTY || done) throw reason
        print(reason.message)
      }
    }
  }
  return {
    ask,
    async [Symbol.asyncDispose]() {
      lines.close()
      input.destroy()
    },
  }
}
