/** What somebody has who cloned the repository: the committed files, with what is not committed yet; and nothing of this environment. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { memoryDirectory } from './memory-directory.ts'

export class FreshClone implements Disposable {
  readonly folder: string
  private readonly place = mkdtempSync(join(memoryDirectory(), 'swapgate-clone-'))

  /** Its packages are those of this checkout, by a link: `npm ci` would take minutes. */
  constructor() {
    this.folder = join(this.place, 'swapgate')
    execFileSync('git', ['clone', '--quiet', '--no-local', '--depth=1', `file://${process.cwd()}`, this.folder])
    const changed = execFileSync('git', ['ls-files', '--modified', '--others', '--exclude-standard', '-z'], { encoding: 'utf8' })
    for (const file of changed.split('\0').filter(Boolean)) {
      if (existsSync(file)) cpSync(file, join(this.folder, file), { recursive: true })
      else rmSync(join(this.folder, file), { force: true })
    }
    symlinkSync(join(process.cwd(), 'node_modules'), join(this.folder, 'node_modules'))
  }

  [Symbol.dispose](): void {
    rmSync(this.place, { recursive: true })
  }
}

/** Of a user: no program of this project, no variable but where the home and the programs of the system are. */
export const userEnvironment: Readonly<Record<string, string>> = {
  HOME: process.env.HOME ?? '',
  PATH: (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .join(delimiter),
}
