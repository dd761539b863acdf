import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterEach, expect, test, vi } from 'vitest'
import { certify } from '../../../test/support/certificate.ts'
import { exporter } from './exporter.ts'
import { collector } from './fixture.ts'

afterEach(() => void vi.unstubAllEnvs())

test('certificate and compression follow the OTEL_EXPORTER_OTLP_… variables', async () => {
  const authority = certify({ name: 'authority' })
  const { taken, url, close } = await collector([200], { secure: certify({ name: 'localhost', issuer: authority }) })
  const directory = mkdtempSync(join(tmpdir(), 'swapgate-exporter-'))
  writeFileSync(join(directory, 'ca.pem'), authority.cert)
  vi.stubEnv('OTEL_EXPORTER_OTLP_CERTIFICATE', join(directory, 'ca.pem'))
  vi.stubEnv('OTEL_EXPORTER_OTLP_COMPRESSION', 'gzip')
  const settled: unknown[] = []
  const settings = { endpoint: `${url.origin}/`, timeoutMs: 2_000, version: '1.2.3' }
  const sender = exporter(settings, (...result) => void settled.push(result))
  await new Promise<unknown>((done) => sender.export([], done))
  await sender.shutdown()
  close()
  rmSync(directory, { recursive: true })
  expect(settled).toEqual([['exported', 0]])
  expect(taken[0]).toMatchObject({ path: '/v1/traces', headers: { 'content-encoding': 'gzip', 'user-agent': 'swapgate/1.2.3' } })
  expect(gunzipSync(taken[0]?.bytes as Buffer)).toHaveLength(0)
})
