/** A fixed document at a fixed path of the public port. */
export interface Page {
  readonly path: string
  readonly type: string
  readonly text: string
  /** The strong tag of the text. */
  readonly tag: string
  /** Whether the path will never have another text: then nobody need ask again. */
  readonly isLasting: boolean
  /** `Content-Security-Policy`, of a page that a browser shows. */
  readonly policy?: string
}
