/** Real programs that tests run: the machine's own, or installed with apt where that can be done. */
import { tmpdir } from 'node:os'
import { apt, inPath, installed } from './installation.ts'

export interface Program {
  /** What it is called; the first that is in PATH is taken. */
  readonly names: readonly [string, ...string[]]
  /** The package of Debian that has it. */
  readonly package: string
}

/** The path of the program. Throws what is missing, and what to do. */
export function programOf({ names, package: debian }: Program): Promise<string> {
  const [what] = names
  return installed(
    what,
    () => names.map(inPath).find((path) => path !== undefined),
    () => apt(what, tmpdir(), 'install', debian),
  )
}
