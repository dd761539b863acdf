/** @grafana/grafana-foundation-sdk: Grafana's own types of panels, so that a misspelt setting does not compile. */

import { PanelBuilder as BarsBuilder } from '@grafana/grafana-foundation-sdk/bargauge'
import type { Builder } from '@grafana/grafana-foundation-sdk/cog'
import * as sdk from '@grafana/grafana-foundation-sdk/common'
import {
  MappingType,
  type Panel,
  type Threshold,
  ThresholdsConfigBuilder,
  ThresholdsMode,
} from '@grafana/grafana-foundation-sdk/dashboard'
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus'
import { PanelBuilder as StatBuilder } from '@grafana/grafana-foundation-sdk/stat'
import { PanelBuilder as TimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline'
import { PanelBuilder as GraphBuilder } from '@grafana/grafana-foundation-sdk/timeseries'

export const datasource = { type: 'prometheus', uid: '$datasource' }

export interface PanelFacts {
  readonly title: string
  /** What it shows, and what to do if it is bad. */
  readonly description: string
  /** Alerts whose runbooks explain more. */
  readonly runbooks?: readonly string[]
  /** By Grafana's name (`s`, `percentunit`, `reqps`, `short`). */
  readonly unit: string
  readonly decimals?: number
  /** Expression by legend; a legend may name labels, as `{{provider}}`. */
  readonly queries: Readonly<Record<string, string>>
  /** From which value on it has which colour; below the first it is green, or `below`. */
  readonly thresholds?: readonly (readonly [value: number, color: string])[]
  readonly below?: string
  /** Columns of 24. */
  readonly span?: number
}

interface GraphFacts extends PanelFacts {
  readonly isStacked?: boolean
  readonly max?: number
}

export type AnyPanel = Builder<Panel>

/** A line for each series over time. */
export function graph({ isStacked = false, max, span = 8, ...facts }: GraphFacts): AnyPanel {
  const builder = new GraphBuilder()
    .height(8)
    .span(span)
    .min(0)
    .lineWidth(1)
    .fillOpacity(isStacked ? 40 : 8)
    .showPoints(sdk.VisibilityMode.Never)
    .legend(
      new sdk.VizLegendOptionsBuilder()
        .displayMode(sdk.LegendDisplayMode.Table)
        .placement(sdk.LegendPlacement.Bottom)
        .calcs(['lastNotNull', 'max'])
        .showLegend(true),
    )
    .tooltip(new sdk.VizTooltipOptionsBuilder().mode(sdk.TooltipDisplayMode.Multi).sort(sdk.SortOrder.Descending))
  if (isStacked) builder.stacking(new sdk.StackingConfigBuilder().mode(sdk.StackingMode.Normal))
  if (max !== undefined) builder.max(max)
  if (facts.thresholds)
    builder.thresholdsStyle(new sdk.GraphThresholdsStyleConfigBuilder().mode(sdk.GraphThresholdsStyleMode.Dashed))
  return filled(builder, facts, false)
}

/** One figure, as it is now or over the selected time. */
export function figure({ span = 4, ...facts }: PanelFacts): AnyPanel {
  const builder = new StatBuilder()
    .height(4)
    .span(span)
    .graphMode(sdk.BigValueGraphMode.None)
    .colorMode(facts.thresholds ? sdk.BigValueColorMode.Background : sdk.BigValueColorMode.None)
    .reduceOptions(last())
  return filled(builder, facts, true)
}

/** A bar for each series, as it is now. */
export function bars({ span = 8, ...facts }: PanelFacts): AnyPanel {
  const builder = new BarsBuilder()
    .height(8)
    .span(span)
    .min(0)
    .orientation(sdk.VizOrientation.Horizontal)
    .displayMode(sdk.BarGaugeDisplayMode.Basic)
    .reduceOptions(last())
  return filled(builder, facts, true)
}

/** When each series was in which state: `states` names the values 0, 1, 2. */
export function timeline({
  states,
  span = 8,
  ...facts
}: PanelFacts & { readonly states: Readonly<Record<string, string>> }): AnyPanel {
  const options = Object.fromEntries(Object.entries(states).map(([text, color], index) => [String(index), { text, color, index }]))
  const builder = new TimelineBuilder()
    .height(8)
    .span(span)
    .mergeValues(true)
    .mappings([{ type: MappingType.ValueToText, options }])
  return filled(builder, facts, false)
}

type AnyBuilder = GraphBuilder | StatBuilder | BarsBuilder | TimelineBuilder

function filled(builder: AnyBuilder, facts: PanelFacts, isInstant: boolean): AnyPanel {
  const { title, description, runbooks = [], unit, decimals, queries, thresholds, below = 'green' } = facts
  const links = runbooks.map((alert) => `[${alert}](\${runbooks}/${alert}.md)`)
  builder
    .title(title)
    .description([description, ...(links.length > 0 ? [`Runbook: ${links.join(', ')}.`] : [])].join('\n\n'))
    .unit(unit)
    .datasource(datasource)
    .noValue('none')
  if (decimals !== undefined) builder.decimals(decimals)
  if (thresholds) builder.thresholds(steps(thresholds, below))
  for (const [index, [legend, expr]] of Object.entries(queries).entries()) {
    const query = new DataqueryBuilder()
      .refId(String.fromCharCode(65 + index))
      .expr(expr)
      .legendFormat(legend)
      .datasource(datasource)
    builder.withTarget(isInstant ? query.instant() : query.range())
  }
  return builder
}

function steps(thresholds: readonly (readonly [number, string])[], below: string): ThresholdsConfigBuilder {
  const above = thresholds.map(([value, color]): Threshold => ({ value, color }))
  return new ThresholdsConfigBuilder().mode(ThresholdsMode.Absolute).steps([{ value: null, color: below }, ...above])
}

function last(): sdk.ReduceDataOptionsBuilder {
  return new sdk.ReduceDataOptionsBuilder().calcs(['lastNotNull'])
}
