import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { parse } from 'yaml'
import { programOf } from '../support/program.ts'
import { alertmanagerPrograms, prometheusPrograms } from '../support/prometheus-program.ts'
import { mounted, readDeploy, serviceOf } from './compose.ts'
import { ContainerRoot } from './container-root.ts'

const run = promisify(execFile)

it('prometheus.yaml and the rules beside it are what Prometheus takes', { timeout: 150_000 }, async () => {
  const { promtool } = await prometheusPrograms()
  using containerRoot = new ContainerRoot()
  const rules = `${process.cwd()}/dashboards/rules/`
  const file = containerRoot.write(
    'prometheus.yaml',
    readDeploy('prometheus.yaml').replace('/etc/prometheus/dashboards/rules/', rules),
  )
  const { stdout } = await run(promtool, ['check', 'config', file])
  expect(stdout).toContain(`SUCCESS: ${file} is valid prometheus config file syntax`)
  const broken = containerRoot.write('broken.yaml', readDeploy('prometheus.yaml').replace('job_name', 'job_nam'))
  await expect(run(promtool, ['check', 'config', broken])).rejects.toThrow('field job_nam not found')
})

/** Debian's Alertmanager is older than `url_file` of a webhook. */
const withoutUrlFiles = (text: string): string => text.replaceAll('url_file: /run/secrets/', 'url: http://127.0.0.1:9/')

it('alertmanager.yaml is what Alertmanager takes', { timeout: 150_000 }, async () => {
  const { amtool } = await alertmanagerPrograms()
  using containerRoot = new ContainerRoot()
  const file = containerRoot.write('alertmanager.yaml', withoutUrlFiles(readDeploy('alertmanager.yaml')))
  expect((await run(amtool, ['check-config', file])).stdout).toContain('SUCCESS')
  for (const [labels, receiver] of [
    ['severity=page', 'page'],
    ['severity=ticket', 'ticket'],
    ['severity=heartbeat', 'heartbeat'],
    ['severity=other', 'ticket'],
  ] as const) {
    const args = ['config', 'routes', 'test', `--config.file=${file}`, 'alertname=SwapgateDown', labels]
    expect((await run(amtool, args)).stdout.trim(), labels).toBe(receiver)
  }
  // The receivers that are in comments are what it takes too.
  const others = readDeploy('alertmanager.yaml').replace(/^ {4}webhook_configs: .*\n {4}# (?=\w+_configs)/gm, '    ')
  expect(others).toContain('\n    pagerduty_configs:')
  expect(others).toContain('\n    slack_configs:')
  const filled = containerRoot.write('others.yaml', withoutUrlFiles(others))
  expect((await run(amtool, ['check-config', filled])).stdout).toContain('SUCCESS')
  const broken = containerRoot.write(
    'broken.yaml',
    withoutUrlFiles(readDeploy('alertmanager.yaml')).replace('receiver: page', 'receiver: nobody'),
  )
  await expect(run(amtool, ['check-config', broken])).rejects.toThrow('failed to validate')
})

it('each URL of a receiver is a secret of the container', () => {
  const files = [...readDeploy('alertmanager.yaml').matchAll(/^ {4}\w.*_file: \/run\/secrets\/(\w+)/gm)].map(([, name]) => name)
  expect(files.toSorted()).toEqual([...(serviceOf('alertmanager').secrets ?? [])].toSorted())
})

it('Prometheus reaches Alertmanager, and both are scraped', () => {
  const { alerting, scrape_configs: jobs } = parse(readDeploy('prometheus.yaml'))
  expect(alerting.alertmanagers[0].static_configs[0].targets).toEqual(['alertmanager:9093'])
  expect(jobs.map(({ job_name: name }: { job_name: string }) => name)).toContain('alertmanager')
})

it('the disk of PostgreSQL is watched where its volume is mounted', () => {
  const place = '/var/lib/postgresql'
  expect(mounted(serviceOf('node-exporter'), place)).toBe('postgres')
  expect(mounted(serviceOf('postgres'), place)).toBe('postgres')
  const { scrape_configs: jobs } = parse(readDeploy('prometheus.yaml'))
  const job = jobs.find(({ job_name: name }: { job_name: string }) => name === 'ledger-disk')
  expect(job).toMatchObject({
    static_configs: [{ targets: ['node-exporter:9100'] }],
    metric_relabel_configs: [{ source_labels: ['mountpoint'], regex: place, action: 'keep' }],
  })
})

it('blackbox-exporter.yaml has the module that prometheus.yaml asks for', { timeout: 150_000 }, async () => {
  const exporter = await programOf({ names: ['prometheus-blackbox-exporter'], package: 'prometheus-blackbox-exporter' })
  await run(exporter, ['--config.check', '--config.file=deploy/blackbox-exporter.yaml'])
  const job = parse(readDeploy('prometheus.yaml')).scrape_configs.find(
    ({ metrics_path: path }: { metrics_path?: string }) => path === '/probe',
  )
  expect(Object.keys(parse(readDeploy('blackbox-exporter.yaml')).modules)).toEqual(job.params.module)
})
