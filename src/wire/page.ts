/** A fixed document at a fixed path of the public port. */
import { entityTag } from './entity-tag.ts'

interface Content {
  readonly text: string
  /** The strong tag of the text. */
  readonly tag: string
}

export interface Page {
  readonly path: string
  readonly type: string
  /** Made when it is first asked for: few who start a gateway look at it. */
  readonly content: () => Content
  /** Whether the path will never have another text: then nobody need ask again. */
  readonly isLasting: boolean
  /** `Content-Security-Policy`, of a page that a browser shows. */
  readonly policy?: string
}

/** What `make` makes, with its tag, made once. */
export function contentOf(make: () => string): Page['content'] {
  let made: Content | undefined
  return () => {
    if (!made) {
      const text = make()
      made = { text, tag: entityTag(text) }
    }
    return made
  }
}
