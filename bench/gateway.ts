/**
 * swapgate translating against fast-gateway passing bytes: get of a transaction, Form A over a Form B provider. One core
 * for the gateway under test, one for the load (wrk) and the provider; the two take turns.
 */
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { median } from './median.ts'
import { authorization, cores, type Load, load, path, requireWrk, start } from './rig.ts'
import { transaction } from './transaction.ts'

const rounds = Number(process.argv[2] ?? 9)
const seconds = Number(process.argv[3] ?? 5)
const warmUp = 10
const ports = { upstream: 19_201, swapgate: 19_202, admin: 19_203, rival: 19_204 }

const configuration = `
server: { port: ${ports.swapgate} }
admin: { port: ${ports.admin} }
assets: ${join(import.meta.dirname, '../config/assets.yaml')}
limits: { quotes: 1000000000, create: 1000000000, read: 1000000000 }
log: { requests: false }
providers:
  beta:
    form: B
    url: "http://127.0.0.1:${ports.upstream}/api/v2"
    rateLimit: { quotes: 0, create: 0, read: 0 }
routing: { providers: [beta] }
`

/** Both must do their whole work, or the figures mean nothing. */
async function check(): Promise<void> {
  const send = (port: number): Promise<Response> => fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization } })
  const translated = await send(ports.swapgate)
  const text = await translated.text()
  const isRight = translated.ok && text.includes('"coinTo":"USDTTRC20"') && translated.headers.has('ratelimit')
  const passed = (await (await send(ports.rival)).json()) as { coin_to?: string }
  if (!isRight || passed.coin_to !== transaction.coin_to) throw new Error(`the gateways do not return the transaction: ${text}`)
}

async function main(): Promise<void> {
  requireWrk()
  const file = join(mkdtempSync(join(tmpdir(), 'swapgate-bench-')), 'gateway.yaml')
  writeFileSync(file, configuration)
  const here = import.meta.dirname
  const children = [
    await start(cores.load, [join(here, 'upstream.ts'), String(ports.upstream)]),
    await start(cores.gateway, [join(here, '../src/cli/swapgate.js'), 'start', '--config', file]),
    await start(cores.gateway, [join(here, '../tools/rival.cjs'), String(ports.rival), String(ports.upstream)]),
  ]
  try {
    await check()
    for (const port of [ports.swapgate, ports.rival]) load(port, warmUp)
    report(Array.from({ length: rounds }, () => ({ swapgate: load(ports.swapgate, seconds), rival: load(ports.rival, seconds) })))
  } finally {
    for (const child of children) child.kill()
  }
}

function report(runs: readonly { swapgate: Load; rival: Load }[]): void {
  const ratios = runs.map(({ swapgate, rival }) => swapgate.perSecond / rival.perSecond)
  const row = (name: string, loads: readonly Load[]): void =>
    console.log(`${name.padEnd(22)}${loads.map(({ perSecond, failures }) => perSecond.toFixed(0) + failures).join(' ')}`)
  row(
    'swapgate, requests/s',
    runs.map(({ swapgate }) => swapgate),
  )
  row(
    'fast-gateway',
    runs.map(({ rival }) => rival),
  )
  console.log(`${'ratio'.padEnd(22)}${ratios.map((ratio) => ratio.toFixed(2)).join(' ')}`)
  console.log(
    `median ratio ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}), ${runs.length} runs of ${seconds} s; at least 1.0 is wanted`,
  )
  process.exitCode = median(ratios) >= 1 ? 0 : 1
}

await main()
