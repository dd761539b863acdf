/** Every address that one container of `deploy/compose.yaml` has of another: it listens there, on a network that both have. */
import { expect, it } from 'vitest'
import { compose, gateways, readDeploy, serviceOf } from './compose.ts'

/** Which ports a service listens on: from its own file, else the standard ones of its image. */
const listening: Readonly<Record<string, readonly number[]>> = {
  ...Object.fromEntries(gateways.map((name) => [name, [8080, 9090]])),
  balancer: [...readDeploy('haproxy.cfg').matchAll(/^ {2}bind :(\d+)/gm)].map(([, port]) => Number(port)),
  'otel-collector': [...readDeploy('otel-collector.yaml').matchAll(/(?:port: |endpoint: 0\.0\.0\.0:)(\d+)/g)].map(([, port]) =>
    Number(port),
  ),
  postgres: [5432],
  redis: [6379],
  prometheus: [9090],
  alertmanager: [9093],
  'blackbox-exporter': [9115],
  'node-exporter': [9100],
  grafana: [3000],
}

const names = Object.keys(compose.services).join('|')
const address = new RegExp(`(?<![\\w.-])(${names}):(\\d+)(?!\\d)`, 'g')

const speakers = [
  ...gateways.map((name) => [
    name,
    `${readDeploy('gateway.yaml')}\n${Object.values(serviceOf(name).environment ?? {}).join('\n')}`,
  ]),
  ['balancer', readDeploy('haproxy.cfg')],
  ['prometheus', readDeploy('prometheus.yaml')],
  ['grafana', readDeploy('grafana/provisioning/datasources/prometheus.yaml')],
] as [string, string][]

it.each(speakers)('%s reaches all that it names', (speaker, text) => {
  const named = [...text.matchAll(address)].map(([, host = '', port]) => ({ host, port: Number(port) }))
  expect(named.length).toBeGreaterThan(0)
  const deaf = named.filter(({ host, port }) => !listening[host]?.includes(port))
  const apart = named.filter(
    ({ host }) => !serviceOf(host).networks.some((network) => serviceOf(speaker).networks.includes(network)),
  )
  expect([deaf, apart]).toEqual([[], []])
})

it('the balancer and Prometheus have every gateway', () => {
  const targetsIn = (text: string, port: number): string[] =>
    [...text.matchAll(address)].filter(([, , at]) => Number(at) === port).map(([, host = '']) => host)
  expect(targetsIn(readDeploy('haproxy.cfg'), 8080)).toEqual(gateways)
  expect(targetsIn(readDeploy('prometheus.yaml'), 9090)).toEqual(gateways)
  expect(readDeploy('haproxy.cfg')).toContain(' check port 9090 ')
  // The rules and the dashboards use this job.
  expect(readDeploy('prometheus.yaml')).toMatch(/job_name: swapgate\n\s+static_configs:\n\s+- targets: \[gateway-1:9090/)
})

it('every file that a container reads is mounted', () => {
  const balancer = serviceOf('balancer')
  const secrets = [...readDeploy('haproxy.cfg').matchAll(/\/run\/secrets\/(\w+)/g)].map(([, name = '']) => name)
  expect(secrets).toEqual(balancer.secrets)
  const documented = [
    ['prometheus', '/etc/prometheus/prometheus.yaml', './prometheus.yaml'],
    ['otel-collector', '/etc/otelcol/config.yaml', './otel-collector.yaml'],
  ] as const
  for (const [name, path, file] of documented) {
    const { command = [], volumes } = serviceOf(name)
    expect([command.some((word) => word.endsWith(`=${path}`) || word.endsWith(`:${path}`)), volumes]).toEqual([
      true,
      expect.arrayContaining([`${file}:${path}:ro`]),
    ])
  }
  const dashboards = /path: (\S+)/.exec(readDeploy('grafana/provisioning/dashboards/swapgate.yaml'))?.[1]
  expect(serviceOf('grafana').volumes).toContain(`../dashboards:${dashboards}:ro`)
  expect(readDeploy('prometheus.yaml')).toContain('- /etc/prometheus/dashboards/rules/*.yaml')
  expect(serviceOf('prometheus').volumes).toContain('../dashboards:/etc/prometheus/dashboards:ro')
})
