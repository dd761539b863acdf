import { statSync } from 'node:fs'

/** Milliseconds between checks. Polling works on every file system, and for links that are replaced. */
const intervalMs = 1_000

/** Differs between two states of a file; empty if there is no file, or none that can be examined. */
export type Signatures = ReadonlyMap<string, string>

/** `known`: signatures that were read earlier, and are kept. */
export function signaturesOf(files: readonly string[], known: Signatures = new Map()): Signatures {
  return new Map(files.map((file) => [file, known.get(file) ?? signatureOf(file)]))
}

/** Calls `changed` once, when any of the files has changed. Returns a function that stops watching. */
export function watchFiles(before: Signatures, changed: () => void): () => void {
  const timer = setInterval(() => {
    if ([...before].every(([file, signature]) => signatureOf(file, signature) === signature)) return
    clearInterval(timer)
    changed()
  }, intervalMs)
  timer.unref()
  return () => clearInterval(timer)
}

/** `known`: the signature while the process may open no more files. */
function signatureOf(file: string, known = ''): string {
  try {
    const { ino, size, mtimeMs } = statSync(file)
    return `${ino} ${size} ${mtimeMs}`
  } catch (reason) {
    const { code } = reason as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE' ? known : ''
  }
}
