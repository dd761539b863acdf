/** The queries of panels, as Grafana sends them. */
import { type Board, panelsOf } from './board.ts'
import type { Prometheus } from './prometheus.ts'

const values: Readonly<Record<string, string>> = {
  job: 'swapgate',
  provider: '.*',
  operation: '.*',
  __rate_interval: '10s',
  __range: '10m',
}

/** With the variables filled in. */
export function filledIn(expression: string): string {
  return expression.replaceAll(/\$(\w+)/g, (name, variable: string) => values[variable] ?? name)
}

/** Names of the panels that have a query without a single figure, as `Overview: Burn rate`. `only`: of these, instead of all. */
export async function emptyPanels(
  prometheus: Prometheus,
  boards: readonly Board[],
  only?: readonly string[],
): Promise<readonly string[]> {
  const panels = boards.flatMap((board) =>
    panelsOf(board).map(({ title, targets = [] }) => ({ name: `${board.title.replace('swapgate: ', '')}: ${title}`, targets })),
  )
  const pending = panels.map(async ({ name, targets }) => {
    if (only?.includes(name) === false) return []
    const responses = await Promise.all(targets.map(({ expr }) => prometheus.query(filledIn(expr))))
    return responses.every((samples) => samples.some(({ value }) => !Number.isNaN(value))) ? [] : [name]
  })
  return (await Promise.all(pending)).flat()
}
