import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { DCLinter } from 'dclint'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { loadConfig } from '../../src/config/index.ts'
import { knownForms } from '../../src/forms/index.ts'
import { compose, gateways, mounted, readDeploy, serviceOf, services, source } from './compose.ts'
import { ContainerRoot } from './container-root.ts'

const run = promisify(execFile)
const environment = { PROVIDER_FORM: 'B', PROVIDER_EXTRA_IDS: 'true', PROVIDER_URL: 'https://api.provider.example/api/v2' }
const [gateway] = gateways.map(serviceOf)
const configFile = 'etc/swapgate/gateway.yaml'

function laidOut(): ContainerRoot {
  const containerRoot = new ContainerRoot()
  containerRoot.prepare('provider-key-1')
  containerRoot.copy(configFile, 'deploy/gateway.yaml')
  containerRoot.copy('app/config/assets.yaml', 'config/assets.yaml')
  return containerRoot
}

describe('compose.yaml', () => {
  it('is what the Compose specification allows', () => {
    const orders = ['service-keys-order', 'services-alphabetical-order', 'top-level-properties-order']
    const taste = [
      'service-dependencies-alphabetical-order',
      'no-quotes-in-volumes',
      'require-quotes-in-ports',
      'no-build-and-image',
    ]
    // It does not read variables; ports have a test of their own.
    const rules = Object.fromEntries([...orders, ...taste, 'no-unbound-port-interfaces'].map((rule) => [rule, 0 as const]))
    const [result] = new DCLinter({ rules, quiet: false, debug: false, exclude: [] }).lintFiles(['deploy/compose.yaml'], false)
    expect([result?.filePath.endsWith('compose.yaml'), result?.messages]).toEqual([true, []])
  })

  it.each(services)('%s: a version that is named, no root, nothing to write on, bounds', (_, service) => {
    expect(service.image).toMatch(/^[\w./-]+:v?\d+\.\d+(?:\.\d+)?$/)
    expect(Number(service.user.split(':')[0])).toBeGreaterThan(0)
    expect([service.read_only, service.cap_drop]).toEqual([true, ['ALL']])
    expect(service.security_opt).toEqual(['no-new-privileges:true'])
    const { cpus, memory } = service.deploy.resources.limits
    expect([Number(cpus) > 0, /^\d+[MG]$/.test(memory)]).toEqual([true, true])
  })

  it('its two gateways are this version, and `replicas` is 2', () => {
    expect(gateways.map((name) => serviceOf(name).image)).toEqual([`swapgate:${manifest.version}`, `swapgate:${manifest.version}`])
    expect(Number(parse(readDeploy('gateway.yaml')).replicas)).toBe(gateways.length)
  })

  it('only the balancer is open to other machines, and no port of a gateway', () => {
    const published = services.flatMap(([name, { ports = [] }]) => ports.map((port) => [name, port]))
    const open = published.filter(([, port = '']) => !port.startsWith('127.0.0.1:'))
    expect(open).toEqual([['balancer', expect.stringMatching(/:8443$/)]])
    expect(published.map(([name]) => name)).toEqual(['balancer', 'balancer', 'prometheus', 'alertmanager', 'grafana'])
    const reachesOut = services.filter(([, { networks }]) => networks.some((network) => !compose.networks[network]?.internal))
    expect(reachesOut.map(([name]) => name)).toEqual([...gateways, ...new Set(published.map(([name]) => name))])
  })

  it('every name in it is one that it declares, and every file is there', () => {
    const missing = services.flatMap(([name, { volumes = [], secrets = [], networks, depends_on = [] }]) => [
      ...secrets.filter((secret) => !compose.secrets[secret]).map((secret) => `${name}: secret ${secret}`),
      ...networks.filter((network) => !compose.networks[network]).map((network) => `${name}: network ${network}`),
      ...(Array.isArray(depends_on) ? depends_on : Object.keys(depends_on)).filter((other) => !compose.services[other]),
      ...volumes.map((volume) => volume.split(':')[0] ?? '').filter((from) => !isThere(from)),
    ])
    expect(missing).toEqual([])
    const used = new Set(services.flatMap(([, { secrets = [] }]) => secrets))
    expect([...used].sort()).toEqual(Object.keys(compose.secrets).sort())
    using containerRoot = laidOut()
    expect(Object.values(compose.secrets).filter(({ file }) => !existsSync(join(containerRoot.at('deploy'), file)))).toEqual([])
  })

  it('every variable without a default stands in .env.example', () => {
    const referenced = [...source.matchAll(/(?<!\$)\$\{(\w+)/g)].map(([, name = '']) => name)
    const documented = [...readDeploy('.env.example').matchAll(/^(\w+)=/gm)].map(([, name = '']) => name)
    expect([...new Set(referenced)].sort()).toEqual(documented.sort())
  })

  it('a service without a check of its own is scraped by Prometheus', () => {
    const unchecked = services.filter(([, { healthcheck }]) => !healthcheck).map(([name]) => name)
    const jobs: readonly { readonly job_name: string }[] = parse(readDeploy('prometheus.yaml')).scrape_configs
    expect(unchecked).toEqual(['otel-collector'])
    expect(jobs.map(({ job_name: name }) => name)).toContain('otel-collector')
  })
})

describe('gateway.yaml', () => {
  it('is accepted by swapgate check, with the secrets and variables of compose.yaml', async () => {
    using containerRoot = laidOut()
    const args = ['src/cli/swapgate.js', 'check', '--json', '--config', containerRoot.at(configFile)]
    const { stdout } = await run(process.execPath, args, { env: { PATH: process.env.PATH, ...environment } })
    expect(JSON.parse(stdout)).toMatchObject({ ok: true, mode: 'managed', routing: ['main'] })
    // They cross a network of this machine's containers only.
    const { warnings } = JSON.parse(stdout) as { readonly warnings: readonly string[] }
    expect(warnings.filter((line) => !line.startsWith('assets: '))).toEqual(
      [/^redis.url: .*in clear/, /^ledger.url: .*in clear/, /^admin.tokens: .*plain http/].map((line) =>
        expect.stringMatching(line),
      ),
    )
  })

  it('needs nothing that compose.yaml does not give', () => {
    const text = readDeploy('gateway.yaml')
    const variables = [...text.matchAll(/\$\{(\w+)\}/g)].map(([, name = '']) => name)
    const files = [...text.matchAll(/\$\{file:\/run\/secrets\/(\w+)\}/g)].map(([, name = '']) => name)
    expect(variables.filter((name) => !(name in (gateway?.environment ?? {})))).toEqual([])
    expect([...new Set(files)].sort()).toEqual([...(gateway?.secrets ?? [])].sort())
    expect(gateway && mounted(gateway, gateway.environment?.SWAPGATE_CONFIG ?? '')).toBe('./gateway.yaml')
  })

  it('has the asset table of the image: a change of the checkout reaches no running container', () => {
    using containerRoot = laidOut()
    expect(parse(readDeploy('gateway.yaml')).assets).toBe('/app/config/assets.yaml')
    expect(gateway && mounted(gateway, '/app/config/assets.yaml')).toBe(undefined)
    expect(gateway?.volumes).toEqual(['./gateway.yaml:/etc/swapgate/gateway.yaml:ro'])
    expect(loadConfig(containerRoot.at(configFile), knownForms, environment).assets.coins.length).toBeGreaterThan(100)
  })

  it('leaves each process time to end before it is killed', () => {
    using containerRoot = laidOut()
    const { server, providers } = loadConfig(containerRoot.at(configFile), knownForms, environment)
    expect(server.drain).toBeGreaterThan(Math.max(...providers.map(({ timeout }) => timeout)))
    expect(Number.parseInt(gateway?.stop_grace_period ?? '', 10)).toBeGreaterThan(server.shutdownDelay + server.drain)
  })
})

function isThere(from: string): boolean {
  return from.startsWith('.') ? existsSync(join('deploy', from)) : from in compose.volumes
}
