/** What all dashboards have in common: their variables, their links, and their times. */
import {
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  TextBoxVariableBuilder,
  VariableRefresh,
  VariableSort,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { type AnyPanel, datasource } from './panel.ts'

export interface BoardFacts {
  /** Its file, and part of its address in Grafana. */
  readonly name: string
  readonly title: string
  readonly description: string
  /** Whether it can show only some providers, or some operations. */
  readonly chooses: readonly ('provider' | 'operation')[]
  readonly rows: Readonly<Record<string, readonly AnyPanel[]>>
}

const choices = {
  provider: 'label_values(swapgate_provider_state{job="$job"}, provider)',
  operation: 'label_values(swapgate_requests_total{job="$job"}, operation)',
} as const

export function board({ name, title, description, chooses, rows }: BoardFacts): DashboardBuilder {
  const builder = new DashboardBuilder(`swapgate: ${title}`)
    .uid(`swapgate-${name}`)
    .description(description)
    .tags(['swapgate'])
    .timezone('utc')
    .readonly()
    .tooltip(DashboardCursorSync.Crosshair)
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .link(
      new DashboardLinkBuilder('swapgate').type(DashboardLinkType.Dashboards).tags(['swapgate']).includeVars(true).keepTime(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(choice('job', 'label_values(swapgate_build_info, job)'))
  for (const chosen of chooses) builder.withVariable(choice(chosen, choices[chosen]).multi(true).includeAll(true).allValue('.*'))
  builder.withVariable(new TextBoxVariableBuilder('runbooks').label('Runbooks are at').defaultValue('docs/runbooks'))
  for (const [row, panels] of Object.entries(rows)) {
    builder.withRow(new RowBuilder(row))
    for (const panel of panels) builder.withPanel(panel)
  }
  return builder
}

function choice(name: string, query: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(`${name[0]?.toUpperCase()}${name.slice(1)}`)
    .datasource(datasource)
    .query({ query, refId: name })
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .sort(VariableSort.AlphabeticalAsc)
}
