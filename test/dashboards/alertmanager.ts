/** A real Alertmanager on loopback with `deploy/alertmanager.yaml`, and the receivers that its messages reach. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { readDeploy } from '../deploy/compose.ts'
import { freePort } from '../support/free-port.ts'
import { alertmanagerPrograms } from '../support/prometheus-program.ts'
import { keeper } from './prometheus.ts'
import { shorter } from './scaling.ts'

/** An alert as a receiver gets it. */
export interface Received {
  /** The name of the secret that has the receiver's URL. */
  readonly at: string
  readonly status: 'firing' | 'resolved'
  /** As in RFC 3339. */
  readonly startsAt: string
  readonly labels: Readonly<Record<string, string>>
  readonly annotations: Readonly<Record<string, string>>
}

export class Alertmanager implements AsyncDisposable {
  /** As `host:port`. */
  readonly address: string
  readonly received: Received[]
  private readonly shell: ChildProcess
  private readonly receivers: Server

  private constructor(address: string, shell: ChildProcess, receivers: Server, received: Received[]) {
    this.address = address
    this.shell = shell
    this.receivers = receivers
    this.received = received
  }

  /** Its times of waiting are divided by the factor. */
  static async start(factor: number): Promise<Alertmanager> {
    const { alertmanager } = await alertmanagerPrograms()
    const received: Received[] = []
    const receivers = createServer(async (request, response) => {
      const { alerts } = JSON.parse(await text(request)) as { alerts: readonly Omit<Received, 'at'>[] }
      received.push(...alerts.map((alert) => ({ ...alert, at: request.url?.slice(1) ?? '' })))
      response.end()
    }).listen(0, '127.0.0.1')
    await once(receivers, 'listening')
    const { port } = receivers.address() as AddressInfo
    const directory = mkdtempSync(join(tmpdir(), 'swapgate-alertmanager-run-'))
    const file = join(directory, 'alertmanager.yaml')
    const configuration = readDeploy('alertmanager.yaml')
      // Debian's version is older than url_file.
      .replaceAll('url_file: /run/secrets/', `url: http://127.0.0.1:${port}/`)
      .replaceAll(/(group_wait|group_interval|repeat_interval): (\w+)/g, (_, name, time) => `${name}: ${shorter(time, factor)}`)
    writeFileSync(file, configuration)
    const address = `127.0.0.1:${await freePort(12_000, 8_000)}`
    const options = [
      `--config.file=${file}`,
      `--storage.path=${join(directory, 'data')}`,
      `--web.listen-address=${address}`,
      '--cluster.listen-address=',
    ]
    const shell = spawn('bash', ['-c', keeper, 'keeper', directory, alertmanager, ...options], {
      stdio: ['pipe', 'ignore', 'ignore'],
    })
    const server = new Alertmanager(address, shell, receivers, received)
    await server.ready()
    return server
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const ended = once(this.shell, 'close')
    this.shell.stdin?.end('\n')
    await ended
    this.receivers.closeAllConnections()
    this.receivers.close()
  }

  private async ready(): Promise<void> {
    for (const deadline = Date.now() + 20_000; Date.now() < deadline; await delay(50)) {
      const isReady = await fetch(`http://${this.address}/-/ready`).then(
        ({ ok }) => ok,
        () => false,
      )
      if (isReady) return
    }
    throw new Error('Alertmanager did not start.')
  }
}
