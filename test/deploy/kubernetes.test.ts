import { execFileSync } from 'node:child_process'
import { readFileSync, symlinkSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { prometheusRule } from '../../scripts/prometheus-rule.ts'
import { readDeploy } from './compose.ts'
import { ContainerRoot } from './container-root.ts'
import { buildManifests, buildWithComponents, type Manifest, modelOf } from './manifests.ts'

interface Route {
  readonly routes: readonly { readonly receiver: string }[]
}

interface Matcher {
  readonly name: string
  readonly value: string
  readonly matchType?: string
}

interface Inhibition {
  readonly sourceMatch: readonly Matcher[]
  readonly targetMatch: readonly Matcher[]
  readonly equal?: readonly string[]
}

let manifests: readonly Manifest[]
let withComponents: readonly Manifest[]
beforeAll(async () => {
  manifests = await buildManifests()
  withComponents = await buildWithComponents()
}, 150_000)

/** By the schema of its kind. Throws what is wrong. */
async function validate(wanted: Manifest): Promise<void> {
  const models = await import(/* @vite-ignore */ modelOf(wanted))
  new models[wanted.kind](wanted).validate()
}

/** The compiler's errors: schemas accept unknown fields, and the types of the same package do not. */
function compile(wanted: readonly Manifest[]): string {
  using containerRoot = new ContainerRoot()
  symlinkSync(`${process.cwd()}/node_modules`, containerRoot.at('node_modules'))
  const lines = wanted.flatMap((each, at) => [
    `import type { I${each.kind} as Kind${at} } from '${modelOf(each)}'`,
    `export const manifest${at}: Kind${at} = ${JSON.stringify(each)}`,
  ])
  containerRoot.write('package.json', '{ "type": "module" }')
  const file = containerRoot.write('manifests.ts', lines.join('\n'))
  const args = ['--ignoreConfig', '--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--types', '', file]
  try {
    return execFileSync('node_modules/.bin/tsc', args, { encoding: 'utf8' })
  } catch (reason) {
    return (reason as { readonly stdout: string }).stdout
  }
}

describe('the manifests', () => {
  it('are one of each kind, and two services', () => {
    const kinds = [
      'AlertmanagerConfig',
      'ConfigMap',
      'Deployment',
      'HorizontalPodAutoscaler',
      'Namespace',
      'NetworkPolicy',
      'PodDisruptionBudget',
    ]
    const all = [...kinds, 'PrometheusRule', 'Service', 'Service', 'ServiceMonitor']
    expect(manifests.map(({ kind }) => kind).sort()).toEqual(all)
    const elsewhere = manifests.filter(({ kind, metadata }) => kind !== 'Namespace' && metadata.namespace !== 'swapgate')
    expect(elsewhere).toEqual([])
  })

  it('are some more with the components', () => {
    const names = new Set(manifests.map(({ kind, metadata }) => `${kind} ${metadata.name}`))
    const added = withComponents.map(({ kind, metadata }) => `${kind} ${metadata.name}`).filter((name) => !names.has(name))
    expect(added.sort()).toEqual([
      'CronJob swapgate-ledger-migrate',
      'CronJob swapgate-ledger-prune',
      'Ingress swapgate-operators',
      'NetworkPolicy swapgate-ledger',
      'NetworkPolicy swapgate-operators',
      'Service swapgate-operators',
    ])
    expect(withComponents).toHaveLength(manifests.length + added.length)
  })

  it('are what the schemas of their kinds allow', async () => {
    await Promise.all(withComponents.map(validate))
    await Promise.all(manifests.map(validate))
    const [wrong] = manifests.filter(({ kind }) => kind === 'PodDisruptionBudget')
    await expect(validate({ ...wrong, spec: { maxUnavailable: [] } } as unknown as Manifest)).rejects.toThrow('maxUnavailable')
  })

  it('have no field that their kinds lack', { timeout: 60_000 }, () => {
    expect(compile([...manifests, ...withComponents])).toBe('')
    const text = JSON.stringify(manifests).replace('"failureThreshold"', '"failureTreshold"')
    expect(compile(JSON.parse(text))).toContain('"failureTreshold"\' does not exist')
  })

  it('run this version', () => {
    const images = [...JSON.stringify(withComponents).matchAll(/"image":"([^"]+)"/g)].map(([, image]) => image)
    expect(images).toEqual(images.map(() => `registry.example/swapgate:${manifest.version}`))
    expect(images).toHaveLength(3)
  })

  it('give each alert to the AlertmanagerConfig of their namespace, which sends and holds back what alertmanager.yaml does', () => {
    const [config] = manifests.filter(({ kind }) => kind === 'AlertmanagerConfig') as readonly Manifest[]
    const { route, inhibitRules } = (config as unknown as { spec: { route: Route; inhibitRules: readonly Inhibition[] } }).spec
    const compose = parse(readDeploy('alertmanager.yaml'))
    expect(route.routes.map(({ receiver }) => receiver)).toEqual(
      compose.route.routes.map(({ receiver }: { receiver: string }) => receiver),
    )
    const text = ({ name, value, matchType = '=' }: Matcher): string => `${name}${matchType}"${value}"`
    expect(
      inhibitRules.map(({ sourceMatch, targetMatch, equal }) => [sourceMatch.map(text), targetMatch.map(text), equal]),
    ).toEqual(
      compose.inhibit_rules.map((rule: Record<string, unknown>) => [rule.source_matchers, rule.target_matchers, rule.equal]),
    )
    const rule = JSON.parse(JSON.stringify(manifests.find(({ kind }) => kind === 'PrometheusRule')))
    const alerts = rule.spec.groups
      .flatMap(({ rules }: { rules: readonly { alert?: string }[] }) => rules)
      .filter(({ alert = '' }) => alert)
    expect(alerts.length).toBeGreaterThan(30)
    for (const { alert, labels, annotations } of alerts) {
      expect(labels.namespace, alert).toBe('swapgate')
      expect(annotations.runbook_url).toBe(`https://runbooks.example/swapgate/${alert}.md`)
    }
  })

  it('hold the rules of dashboards/rules (npm run rules:kubernetes writes them)', () => {
    expect(readFileSync('deploy/kubernetes/prometheus-rule.yaml', 'utf8')).toBe(prometheusRule())
  })
})
