/** The programs of Prometheus. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { apt, inPath, installed, isProgram } from './installation.ts'

export interface PrometheusPrograms {
  readonly prometheus: string
  readonly promtool: string
}

const what = 'prometheus'
/** Unpacked and not installed: Debian's package would start a service. */
const directory = join(tmpdir(), 'swapgate-prometheus')

/** Throws what is missing, and what to do. */
export function prometheusPrograms(): Promise<PrometheusPrograms> {
  return installed(what, find, unpack)
}

function find(): PrometheusPrograms | undefined {
  const [prometheus, promtool] = [what, 'promtool'].map((name) => {
    const unpacked = join(directory, 'usr/bin', name)
    return inPath(name) ?? (isProgram(unpacked) ? unpacked : undefined)
  })
  return prometheus !== undefined && promtool !== undefined ? { prometheus, promtool } : undefined
}

function unpack(): void {
  const place = mkdtempSync(`${directory}-`)
  apt(what, place, 'update', '-qq')
  apt(what, place, 'download', '-qq', what)
  const [archive = ''] = readdirSync(place)
  execFileSync('dpkg-deb', ['-x', join(place, archive), join(place, 'unpacked')])
  rmSync(directory, { recursive: true, force: true })
  renameSync(join(place, 'unpacked'), directory)
  rmSync(place, { recursive: true })
}
