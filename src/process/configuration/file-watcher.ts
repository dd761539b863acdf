import { statSync } from 'node:fs'

/** How often files are looked at, in milliseconds: that works on every file system, and for links that are set anew. */
const intervalMs = 1_000

/** What tells one state of a file from another; empty where there is none. */
export type Signatures = ReadonlyMap<string, string>

export function signaturesOf(files: readonly string[]): Signatures {
  return new Map(files.map((file) => [file, signatureOf(file)]))
}

/** Calls `changed` once, when any of the files is another one than it was. Returns what ends it. */
export function watchFiles(before: Signatures, changed: () => void): () => void {
  const timer = setInterval(() => {
    if ([...before].every(([file, signature]) => signatureOf(file) === signature)) return
    clearInterval(timer)
    changed()
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

function signatureOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false })
  return stats ? `${stats.ino} ${stats.size} ${stats.mtimeMs}` : ''
}
