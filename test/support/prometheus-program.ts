/** The programs of Prometheus, of Alertmanager, and of an exporter. */
import { execFileSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { apt, inPath, installed, isProgram } from './installation.ts'
import { diskDirectory } from './memory-directory.ts'

export interface PrometheusPrograms {
  readonly prometheus: string
  readonly promtool: string
}

export interface AlertmanagerPrograms {
  readonly alertmanager: string
  readonly amtool: string
}

/** Throws what is missing, and what to do. */
export async function prometheusPrograms(): Promise<PrometheusPrograms> {
  const [prometheus = '', promtool = ''] = await unpacked('prometheus', [['prometheus'], ['promtool']])
  return { prometheus, promtool }
}

/** The same. */
export async function alertmanagerPrograms(): Promise<AlertmanagerPrograms> {
  const names = [['alertmanager', 'prometheus-alertmanager'], ['amtool']]
  const [alertmanager = '', amtool = ''] = await unpacked('prometheus-alertmanager', names)
  return { alertmanager, amtool }
}

/** The exporter of a machine's file systems. The same. */
export async function nodeExporterProgram(): Promise<string> {
  const [program = ''] = await unpacked('prometheus-node-exporter', [['node_exporter', 'prometheus-node-exporter']])
  return program
}

/** The paths of programs of a package of Debian, each of which may have several names. It is unpacked and not installed: it would start a service. */
function unpacked(debian: string, programs: readonly (readonly string[])[]): Promise<readonly string[]> {
  const directory = join(diskDirectory(), `swapgate-${debian}`)
  const find = (): readonly string[] | undefined => {
    const paths = programs.map((names) =>
      names.map((name) => inPath(name) ?? join(directory, 'usr/bin', name)).find((path) => isProgram(path)),
    )
    return paths.every((path) => path !== undefined) ? paths : undefined
  }
  return installed(debian, find, () => {
    const place = mkdtempSync(`${directory}-`)
    apt(debian, place, 'download', debian)
    const [archive = ''] = readdirSync(place)
    execFileSync('dpkg-deb', ['-x', join(place, archive), join(place, 'unpacked')])
    rmSync(directory, { recursive: true, force: true })
    const templates = 'usr/share/prometheus/alertmanager'
    const found = join(place, 'unpacked', templates)
    // Debian's Alertmanager looks for them there only.
    if (existsSync(found)) cpSync(found, join('/', templates), { recursive: true })
    renameSync(join(place, 'unpacked'), directory)
    rmSync(place, { recursive: true })
  })
}
