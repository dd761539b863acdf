/** The manifests that kustomize, a part of kubectl, makes of `deploy/kubernetes`. */
import { execFileSync } from 'node:child_process'
import { parseAllDocuments } from 'yaml'
import { programOf } from '../support/program.ts'

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

/** Where the class and the schema of a kind are. */
export function modelOf({ apiVersion, kind }: Manifest): string {
  const models = apiVersion.startsWith('monitoring.coreos.com/') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'
  return `${models}/${apiVersion}/${kind}`
}
