import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import manifest from '../../package.json' with { type: 'json' }

/** Of the package. */
export const version: string = manifest.version

/** Of the clone, and of the package: a bundle is as deep in it. */
const root = join(import.meta.dirname, '../..')

/** From which it was built: an image and a package have it in a file, a clone asks git. */
export function commit(): string {
  if (existsSync(join(root, 'commit'))) return readFileSync(join(root, 'commit'), 'utf8').trim()
  if (!existsSync(join(root, '.git'))) return 'unknown'
  try {
    return execFileSync('git', ['rev-parse', 'HEAD'], { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim()
  } catch {
    return 'unknown'
  }
}
