import { spawnSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { ContainerRoot } from './container-root.ts'

it('prepare.sh makes missing secrets, keeps existing ones, and names those that only the operator has', () => {
  using containerRoot = new ContainerRoot()
  mkdirSync(containerRoot.at('deploy'))
  cpSync('deploy/prepare.sh', containerRoot.at('deploy/prepare.sh'))
  // Made by somebody else, readable for everybody.
  mkdirSync(containerRoot.at('deploy/secrets'))
  chmodSync(containerRoot.at('deploy/secrets'), 0o755)
  const prepare = () => spawnSync('sh', [containerRoot.at('deploy/prepare.sh')], { encoding: 'utf8' })
  const first = prepare()
  expect([first.status, first.stderr.match(/^missing: [\w./]+/gm)]).toEqual([1, ['missing: secrets/provider_key', 'missing: .env']])
  const secrets = (): Record<string, string> => {
    const names = readdirSync(containerRoot.at('deploy/secrets')).sort()
    return Object.fromEntries(names.map((name) => [name, readFileSync(containerRoot.at(`deploy/secrets/${name}`), 'utf8')]))
  }
  const made = secrets()
  const receivers = ['heartbeat_url', 'page_url', 'ticket_url']
  const passwords = ['grafana_password', 'operator_token', 'postgres_password', 'redis_password']
  expect(Object.keys(made)).toEqual(['certificate.pem', ...[...receivers, ...passwords].sort(), 'webhooks_key'])
  for (const name of passwords) expect(made[name]).toMatch(/^[0-9a-f]{48}\n$/)
  expect(Buffer.from(made.webhooks_key ?? '', 'base64')).toHaveLength(32)
  expect(new Set(passwords.map((name) => made[name])).size).toBe(4)
  for (const name of receivers) expect(first.stdout).toContain(`secrets/${name} leads nowhere yet`)

  for (const name of receivers) writeFileSync(containerRoot.at(`deploy/secrets/${name}`), 'https://receiver.example/hook')
  Object.assign(made, Object.fromEntries(receivers.map((name) => [name, 'https://receiver.example/hook'])))

  writeFileSync(containerRoot.at('deploy/secrets/provider_key'), 'provider-key-1')
  cpSync('deploy/.env.example', containerRoot.at('deploy/.env'))
  expect(prepare()).toMatchObject({ status: 0, stdout: '', stderr: '' })
  expect(secrets()).toEqual({ ...made, provider_key: 'provider-key-1' })
  // Readable for the containers' users, inside a folder that only its owner can open.
  expect(statSync(containerRoot.at('deploy/secrets')).mode & 0o777).toBe(0o700)
  expect(statSync(containerRoot.at('deploy/secrets/provider_key')).mode & 0o777).toBe(0o644)
})
