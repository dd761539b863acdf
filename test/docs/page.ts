/** Pages that show `swapgate` commands and what they print. */
export interface Command {
  /** Behind `swapgate`. */
  readonly typed: string
  readonly shown: string
}

/** Each block of one line ` ```sh `, with the ` ```text ` block that follows. */
export function commandsOf(page: string): readonly Command[] {
  const blocks = page.matchAll(/^```sh\nswapgate (.+)\n```\n\n```text\n([\s\S]*?)\n```$/gm)
  return [...blocks].map(([, typed = '', shown = '']) => ({ typed, shown }))
}
