/** The manifests of `deploy/kubernetes` agree with each other, and with their configuration. */
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import type { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import type { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { Service } from 'kubernetes-models/v1/Service'
import { beforeAll, describe, expect, it } from 'vitest'
import { type Config, loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { ContainerRoot } from './container-root.ts'
import { buildManifests, type Manifest } from './manifests.ts'

type Labels = Readonly<Record<string, string>>

const run = promisify(execFile)
const secrets = {
  'provider-key': 'provider-key-1',
  'ledger-url': 'postgres://swapgate:secret@postgres/swapgate?sslmode=verify-full',
  'redis-url': 'redis://redis',
}
let manifests: readonly Manifest[]
const ofKind = <T>(kind: string): readonly T[] => manifests.filter((each) => each.kind === kind) as unknown as readonly T[]
const one = <T>(kind: string): T => ofKind<T>(kind)[0] as T
const pod = () => one<Deployment>('Deployment').spec?.template.spec
const container = () => pod()?.containers[0]
const ports = (): readonly (string | undefined)[] => container()?.ports?.map(({ name }) => name) ?? []
const picks = (selector: Labels = {}, labels: Labels = {}): boolean => {
  const wanted = Object.entries(selector)
  return wanted.length > 0 && wanted.every(([name, value]) => labels[name] === value)
}

beforeAll(async () => {
  manifests = await buildManifests()
}, 150_000)

/** The files of the containers: the configuration and the secrets, each where the pod mounts it. */
function laidOut(): { readonly containerRoot: ContainerRoot; readonly file: string } {
  const containerRoot = new ContainerRoot()
  const file = container()?.env?.find(({ name }) => name === 'SWAPGATE_CONFIG')?.value ?? ''
  for (const { name, mountPath } of container()?.volumeMounts ?? []) {
    const volume = pod()?.volumes?.find((each) => each.name === name)
    const map = ofKind<ConfigMap>('ConfigMap').find(({ metadata }) => metadata?.name === volume?.configMap?.name)
    for (const [key, text] of Object.entries(map?.data ?? {})) containerRoot.write(`${mountPath}/${key}`, text)
    for (const { key, path } of volume?.secret?.items ?? []) {
      containerRoot.write(`${mountPath}/${path}`, secrets[key as keyof typeof secrets])
    }
  }
  containerRoot.copy('app/config/assets.yaml', 'config/assets.yaml')
  return { containerRoot, file: containerRoot.at(file) }
}

function configuration(): Config {
  const { containerRoot, file } = laidOut()
  using _ = containerRoot
  return loadConfig(file, knownForms, {})
}

describe('the pod', () => {
  it('has a configuration that swapgate check accepts, with only its mounts and its environment', async () => {
    const { containerRoot, file } = laidOut()
    using _ = containerRoot
    const args = ['src/cli/swapgate.js', 'check', '--json', '--config', file]
    const { stdout } = await run(process.execPath, args, { env: { PATH: process.env.PATH } })
    expect(JSON.parse(stdout)).toMatchObject({
      ok: true,
      mode: 'managed',
      warnings: [/XRP/, /XLM/].map((network) => expect.stringMatching(network)),
    })
    const named = [...readFileSync(file, 'utf8').matchAll(/\$\{file:[^}]*\/([\w-]+)\}/g)].map(([, name]) => name)
    expect(named.sort()).toEqual(Object.keys(secrets).sort())
    const documented = [...readFileSync('docs/deployment.md', 'utf8').matchAll(/--from-file=([\w-]+)=/g)].map(([, name]) => name)
    expect(documented.sort()).toEqual(named)
  })

  it('has time to end: longer than shutdownDelay and drain together, and drain is longer than a provider may take', () => {
    const { server, providers } = configuration()
    const { readinessProbe } = container() ?? {}
    expect(pod()?.terminationGracePeriodSeconds).toBeGreaterThan(server.shutdownDelay + server.drain)
    expect(server.drain).toBeGreaterThan(Math.max(...providers.map(({ timeout }) => timeout)))
    const noticed = (readinessProbe?.periodSeconds ?? 10) * (readinessProbe?.failureThreshold ?? 3)
    expect(server.shutdownDelay).toBeGreaterThan(noticed)
  })

  it('is probed on the admin port, and only there', () => {
    const { admin, server } = configuration()
    expect(container()?.ports).toEqual([
      { name: 'api', containerPort: server.port },
      { name: 'admin', containerPort: admin.port },
    ])
    const { startupProbe, readinessProbe, livenessProbe } = container() ?? {}
    const probes = [startupProbe, readinessProbe, livenessProbe].map((probe) => probe?.httpGet)
    expect(probes).toEqual(['/readyz', '/readyz', '/livez'].map((path) => ({ path, port: 'admin' })))
    expect([server.host, admin.host]).toEqual(['0.0.0.0', '0.0.0.0'])
  })

  it('meets the Pod Security Standard "restricted", writes nothing, and has limits', () => {
    expect(pod()).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: { runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } },
    })
    expect(container()?.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    })
    expect(Object.keys(container()?.resources?.limits ?? {}).sort()).toEqual(['cpu', 'memory'])
    expect(one<Manifest>('Namespace').metadata.labels).toMatchObject({ 'pod-security.kubernetes.io/enforce': 'restricted' })
  })
})

describe('what stands around it', () => {
  it('selects it by its labels', () => {
    const { spec } = one<Deployment>('Deployment')
    const labels = spec?.template.metadata?.labels ?? {}
    const selectors = [
      spec?.selector.matchLabels,
      one<PodDisruptionBudget>('PodDisruptionBudget').spec?.selector?.matchLabels,
      one<NetworkPolicy>('NetworkPolicy').spec?.podSelector?.matchLabels,
      ...ofKind<Service>('Service').map((service) => service.spec?.selector),
      ...(spec?.template.spec?.topologySpreadConstraints ?? []).map(({ labelSelector }) => labelSelector?.matchLabels),
    ]
    expect(selectors.length).toBe(7)
    expect(selectors.filter((selector) => !picks(selector, labels))).toEqual([])
  })

  it('names ports that it has', () => {
    const targets = ofKind<Service>('Service').flatMap(({ spec }) => spec?.ports?.map(({ targetPort }) => targetPort) ?? [])
    const admitted = one<NetworkPolicy>('NetworkPolicy').spec?.ingress?.flatMap((rule) => rule.ports?.map(({ port }) => port))
    expect([targets.toSorted(), admitted?.toSorted()]).toEqual([ports().toSorted(), ports().toSorted()])
  })

  it('Prometheus finds the admin port, and clients do not', () => {
    const { selector, endpoints, jobLabel = '' } = one<ServiceMonitor>('ServiceMonitor').spec
    const found = ofKind<Service>('Service').filter(({ metadata }) => picks(selector.matchLabels, metadata?.labels))
    // The rules and the dashboards use this job.
    expect(found.map(({ metadata }) => metadata?.labels?.[jobLabel])).toEqual(['swapgate'])
    expect(found.map(({ metadata }) => metadata?.name)).toEqual(['swapgate-admin'])
    expect(found[0]?.spec?.clusterIP).toBe('None')
    expect(found[0]?.spec?.ports?.map(({ name }) => name)).toEqual(endpoints.map(({ port }) => port))
  })

  it('there are at least two, at most as many as share the limits when Redis is lost, and one at a time may go', () => {
    const { spec } = one<HorizontalPodAutoscaler>('HorizontalPodAutoscaler')
    const { metadata, spec: deployment } = one<Deployment>('Deployment')
    expect(spec?.scaleTargetRef).toEqual({ apiVersion: 'apps/v1', kind: 'Deployment', name: metadata?.name })
    expect(spec?.minReplicas).toBeGreaterThanOrEqual(2)
    expect(configuration().replicas).toBe(spec?.maxReplicas)
    expect(one<PodDisruptionBudget>('PodDisruptionBudget').spec?.maxUnavailable).toBe(1)
    expect(deployment?.strategy?.rollingUpdate).toEqual({ maxSurge: 1, maxUnavailable: 0 })
    expect(deployment?.replicas).toBeUndefined()
  })
})
