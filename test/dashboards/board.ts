/** The dashboards as Grafana reads them. */
import { globSync, readFileSync } from 'node:fs'

export interface Panel {
  readonly title: string
  readonly type: string
  readonly description?: string
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number }
  readonly fieldConfig?: { readonly defaults: { readonly unit?: string } }
  readonly targets?: readonly { readonly expr: string; readonly legendFormat: string; readonly refId: string }[]
}

export interface Board {
  readonly file: string
  readonly title: string
  readonly templating: { readonly list: readonly { readonly name: string; readonly query?: unknown }[] }
  readonly panels: readonly Panel[]
}

export function boards(): readonly Board[] {
  return globSync('dashboards/*.json').map((file) => ({ file, ...(JSON.parse(readFileSync(file, 'utf8')) as Omit<Board, 'file'>) }))
}

/** Those that show something; rows are left out. */
export function panelsOf({ panels }: Board): readonly Panel[] {
  return panels.filter(({ type }) => type !== 'row')
}
