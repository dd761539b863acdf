/** The manifests of `deploy/kubernetes` agree with each other, and with their configuration. */
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { promisify } from 'node:util'
import type { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import type { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import type { HorizontalPodAutoscaler } from 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler'
import type { CronJob } from 'kubernetes-models/batch/v1/CronJob'
import type { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import type { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import type { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import type { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import type { Service } from 'kubernetes-models/v1/Service'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { type Config, loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { ContainerRoot } from './container-root.ts'
import { buildManifests, buildWithComponents, type Manifest } from './manifests.ts'

type Labels = Readonly<Record<string, string>>

const run = promisify(execFile)
const secrets = {
  'provider-key': 'provider-key-1',
  'ledger-url': 'postgres://swapgate:secret@postgres/swapgate?sslmode=verify-full',
  'redis-url': 'redis://redis',
  'operator-token': 'operator-token-of-32-characters-1',
}
let manifests: readonly Manifest[]
let withComponents: readonly Manifest[]
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
  withComponents = await buildWithComponents()
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
    const { warnings, ...others } = JSON.parse(stdout)
    // What is said of the asset table depends on the day.
    const lasting = warnings.filter((warning: string) => !warning.startsWith('assets: '))
    expect({ warnings: lasting, ...others }).toMatchObject({
      ok: true,
      mode: 'managed',
      // A key that the pod needs would keep it from its start where the secret is of before.
      warnings: [/^admin.tokens: .*plain http/, /XRP/, /XLM/, /^webhooks.key is not set/].map((network) =>
        expect.stringMatching(network),
      ),
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

describe('the components', () => {
  const named = <T>(kind: string, name: string): T =>
    withComponents.find((each) => each.kind === kind && each.metadata.name === name) as unknown as T

  it('operators: the ingress leads page and API to the admin port of the pods, and nothing else of it', () => {
    const { spec } = named<Ingress>('Ingress', 'swapgate-operators')
    const paths = spec?.rules?.flatMap((rule) => rule.http?.paths ?? []) ?? []
    expect(paths.map(({ path, pathType }) => `${pathType} ${path}`)).toEqual(['Exact /', 'Prefix /page', 'Prefix /api'])
    const service = named<Service>('Service', 'swapgate-operators')
    const [port] = service.spec?.ports ?? []
    for (const { backend } of paths) expect(backend.service).toEqual({ name: service.metadata?.name, port: { name: port?.name } })
    expect(ports()).toContain(port?.targetPort)
    const labels = one<Deployment>('Deployment').spec?.template.metadata?.labels ?? {}
    expect(picks(service.spec?.selector, labels)).toBe(true)
    const policy = named<NetworkPolicy>('NetworkPolicy', 'swapgate-operators').spec
    expect(picks(policy?.podSelector?.matchLabels, labels)).toBe(true)
    expect(policy?.ingress?.flatMap((rule) => rule.ports?.map(({ port }) => port))).toEqual([port?.targetPort])
  })

  it('autoscaler-in-flight: two gauges that the gateway has, in place of the processor, for the same pods', async () => {
    const before = one<HorizontalPodAutoscaler>('HorizontalPodAutoscaler').spec
    const after = named<HorizontalPodAutoscaler>('HorizontalPodAutoscaler', 'swapgate').spec
    expect([after?.scaleTargetRef, after?.minReplicas, after?.maxReplicas]).toEqual([
      before?.scaleTargetRef,
      before?.minReplicas,
      before?.maxReplicas,
    ])
    const names = after?.metrics?.map(({ pods }) => pods?.metric.name) ?? []
    const { rules } = parse(readFileSync('deploy/kubernetes/components/autoscaler-in-flight/adapter-rules.yaml', 'utf8'))
    const [, pattern] = /__name__=~"([^"]+)"/.exec(rules[0].seriesQuery) ?? []
    const documented = [...readFileSync('docs/observability.md', 'utf8').matchAll(/^\| `(swapgate_\w+)` \| gauge/gm)].map(
      ([, name = '']) => name,
    )
    expect(documented.filter((name) => new RegExp(`^(?:${pattern})$`).test(name))).toEqual(names)
    expect(names).toHaveLength(2)
  })

  it('ledger-jobs: pods that no service finds, with what the gateway has, and commands that do it', async () => {
    const { containerRoot, file } = laidOut()
    using _ = containerRoot
    const ledger = `sqlite:${containerRoot.at('ledger.db')}`
    writeFileSync(file, readFileSync(file, 'utf8').replace(/\$\{file:[^}]*ledger-url\}/, ledger))
    const env = { PATH: [dirname(process.execPath), process.env.PATH].join(delimiter), SWAPGATE_CONFIG: file }
    const services = withComponents.filter(({ kind }) => kind === 'Service') as unknown as readonly Service[]
    for (const [name, printed] of [
      ['migrate', /^The ledger now has the schema/],
      ['prune', /^Deleted: 0 /],
    ] as const) {
      const { spec } = named<CronJob>('CronJob', `swapgate-ledger-${name}`)
      expect([spec?.suspend ?? false, spec?.concurrencyPolicy]).toEqual([name === 'migrate', 'Forbid'])
      const template = spec?.jobTemplate.spec?.template
      expect(services.filter((each) => picks(each.spec?.selector, template?.metadata?.labels))).toEqual([])
      const [job] = template?.spec?.containers ?? []
      expect([job?.volumeMounts, template?.spec?.volumes]).toEqual([container()?.volumeMounts, pod()?.volumes])
      expect(job?.securityContext).toEqual(container()?.securityContext)
      expect(template?.spec?.securityContext).toEqual(pod()?.securityContext)
      const [program = '', ...args] = job?.command ?? []
      expect((await run(program, args, { env })).stdout).toMatch(printed)
    }
  })
})
