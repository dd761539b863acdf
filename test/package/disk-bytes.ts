import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

/** Bytes that a file or a folder needs on the disk, without the folders below it that are left out by name. */
export function diskBytesOf(path: string, leftOut: (name: string) => boolean = () => false): number {
  const { blocks } = lstatSync(path)
  const own = blocks * 512
  if (!lstatSync(path).isDirectory()) return own
  const names = readdirSync(path).filter((name) => !leftOut(name))
  return names.reduce((sum, name) => sum + diskBytesOf(join(path, name), leftOut), own)
}
