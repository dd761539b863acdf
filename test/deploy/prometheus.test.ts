import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { prometheusPrograms } from '../support/prometheus-program.ts'
import { readDeploy } from './compose.ts'
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
