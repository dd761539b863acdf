/** Programs that tests start or ask, each of a Debian package. They throw what is missing, and what to do. */
import { tmpdir } from 'node:os'
import { apt, inPath, installed, isProgram } from './installation.ts'

export const haproxyProgram = (): Promise<string> => debianProgram('haproxy', 'haproxy')

/** Its kustomize needs no cluster. */
export const kubectlProgram = (): Promise<string> => debianProgram('kubectl', 'kubernetes-client')

function debianProgram(name: string, debianPackage: string): Promise<string> {
  // Where Debian puts servers, which is not in everybody's PATH.
  const server = `/usr/sbin/${name}`
  return installed(
    name,
    () => inPath(name) ?? (isProgram(server) ? server : undefined),
    () => {
      apt(name, tmpdir(), 'update', '-qq')
      apt(name, tmpdir(), 'install', '-y', '-qq', '--no-install-recommends', debianPackage)
    },
  )
}
