/** The program of HAProxy. */
import { tmpdir } from 'node:os'
import { apt, inPath, installed, isProgram } from './installation.ts'

const what = 'haproxy'
/** Where Debian puts it, which is not in everybody's PATH. */
const place = '/usr/sbin/haproxy'

/** Throws what is missing, and what to do. */
export function haproxyProgram(): Promise<string> {
  return installed(
    what,
    () => inPath(what) ?? (isProgram(place) ? place : undefined),
    () => {
      apt(what, tmpdir(), 'update', '-qq')
      apt(what, tmpdir(), 'install', '-y', '-qq', '--no-install-recommends', what)
    },
  )
}
