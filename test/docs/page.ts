/** Pages that show `swapgate` commands and what they print. */
export interface Command {
  /** Behind `swapgate`. */
  readonly typed: string
  readonly shown: string
}

/** Each block of one line ` ```sh `, with the ` ```text ` block that follows, or a ` ```json ` block, as one line. */
export function commandsOf(page: string): readonly Command[] {
  const blocks = page.matchAll(/^```sh\nswapgate (.+)\n```\n\n```(text|json)\n([\s\S]*?)\n```$/gm)
  return [...blocks].map(([, typed = '', kind, shown = '']) => ({
    typed,
    shown: kind === 'json' ? JSON.stringify(JSON.parse(shown)) : shown,
  }))
}
