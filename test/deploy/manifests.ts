/** The manifests that kustomize, a part of kubectl, makes of `deploy/kubernetes`. */
import { execFileSync } from 'node:child_process'
import { cpSync, readFileSync } from 'node:fs'
import { parseAllDocuments } from 'yaml'
import { programOf } from '../support/program.ts'
import { ContainerRoot } from './container-root.ts'

export interface Manifest {
  readonly apiVersion: string
  readonly kind: string
  readonly metadata: { readonly name: string; readonly namespace?: string; readonly labels?: Readonly<Record<string, string>> }
}

export async function buildManifests(folder = 'deploy/kubernetes'): Promise<readonly Manifest[]> {
  const kubectl = await programOf({ names: ['kubectl'], package: 'kubernetes-client' })
  const text = execFileSync(kubectl, ['kustomize', folder], { encoding: 'utf8' })
  return parseAllDocuments(text).map((document) => document.toJS() as Manifest)
}

/** The same with all components of `kustomization.yaml`, which stand in a comment there. */
export async function buildWithComponents(): Promise<readonly Manifest[]> {
  using containerRoot = new ContainerRoot()
  const folder = containerRoot.at('kubernetes')
  cpSync('deploy/kubernetes', folder, { recursive: true })
  const text = readFileSync('deploy/kubernetes/kustomization.yaml', 'utf8')
  containerRoot.write('kubernetes/kustomization.yaml', text.replaceAll(/^# (?=components:| {2}- components\/)/gm, ''))
  return await buildManifests(folder)
}

/** Where the class and the schema of a kind are. */
export function modelOf({ apiVersion, kind }: Manifest): string {
  const models = apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
  return `${models}/${apiVersion}/${kind}`
}
