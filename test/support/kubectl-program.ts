/** kubectl, whose kustomize needs no cluster. */
import { tmpdir } from 'node:os'
import { apt, inPath, installed } from './installation.ts'

const what = 'kubectl'

/** Throws what is missing, and what to do. */
export function kubectlProgram(): Promise<string> {
  return installed(
    what,
    () => inPath(what),
    () => {
      apt(what, tmpdir(), 'update', '-qq')
      apt(what, tmpdir(), 'install', '-y', '-qq', '--no-install-recommends', 'kubernetes-client')
    },
  )
}
