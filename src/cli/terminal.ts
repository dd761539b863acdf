/** Where a command writes, a line at a time: facts to `out`, complaints to `err`. */
export interface Terminal {
  readonly out: (line: string) => void
  readonly err: (line: string) => void
}
