/** The providers as they are now, with what can be changed. */
import { html, nothing } from 'lit-html'
import { counted, deviation, inline, integer, milliseconds, none, percent, when } from './format.js'
import { linkTo } from './navigation.js'
import { changeButton } from './roles.js'
import { section } from './section.js'
import { table } from './table.js'

/** The most transactions that were open at a draining provider while this page watched, by name. */
const mostOpen = new Map()

export function openCount({ openTransactions, pendingCreates, unknownCreates }) {
  return openTransactions + pendingCreates + unknownCreates
}

/** `health`: whether Redis, which holds the shared budgets, answers. */
export function providersSection({ report: reading, health, open }) {
  const report = reading.value
  const isWeighted = report?.strategy === 'weighted'
  const known = { isOld: reading.isOld, isBudgetKnown: !reading.isOld && isBudgetKnown(health) }
  return section({
    id: 'providers',
    title: 'Providers',
    reading,
    note: report && routingText(report),
    action: isWeighted ? changeButton({ role: 'operate', label: 'Weights…', onClick: () => open({ kind: 'weights' }) }) : undefined,
    content: report
      ? html`${report.overrides.length === 0 ? nothing : overrides(report.overrides, open)} ${suspensions(report.providers, open)}
          ${table({ caption: 'Providers', columns: columns(report, known, open), rows: report.providers, empty: 'No provider is configured.' })}`
      : nothing,
  })
}

/** While Redis is away each gateway counts its share by itself. */
function isBudgetKnown({ value, isOld }) {
  return !isOld && (value?.redis === null || value?.redis?.state === 'available')
}

function routingText({ strategy, mirror }) {
  const mirrorText = mirror ? `; ${mirror.provider} also gets ${percent(mirror.sample)} of the quotes as a mirror` : ''
  return `Strategy ${strategy}${mirrorText}`
}

function overrides(list, open) {
  return html`<ul class="overrides">
    ${list.map(
      ({ key, value, actor, since, isAsleep }) => html`<li>
        <span><code>${key}</code> is <b>${inline(value)}</b>, set by ${actor} at ${when(since)}.${isAsleep ? ' It has no effect with this file.' : ''}</span>
        ${changeButton({ role: 'operate', label: 'Back to the file…', name: `Back to the file: ${key}`, onClick: () => open({ kind: 'reset', key }) })}
      </li>`,
    )}
  </ul>`
}

function suspensions(providers, open) {
  const all = providers.flatMap(({ name, suspended }) => suspended.map((one) => ({ ...one, name })))
  if (all.length === 0) return nothing
  return html`<ul class="overrides" aria-label="Suspended assets">
    ${all.map(
      ({ name, asset, network, kind, since, until }) => html`<li>
        <span><b class="alarm">${asset}</b>${network === null ? '' : ` on ${network}`} is out of new swaps at <b>${name}</b> since ${when(since)} until ${when(until)}: three mismatches in a row of <code>${kind}</code>.</span>
        ${changeButton({ role: 'operate', label: 'Offer again…', name: `Offer again at ${name}: ${asset}`, onClick: () => open({ kind: 'resume', name }) })}
      </li>`,
    )}
  </ul>`
}

function columns({ strategy, mirror }, { isOld, isBudgetKnown }, open) {
  const number = (heading, content) => ({ heading, content, isNumber: true })
  const live = (content) => (provider) => (provider.live ? content(provider.live) : none)
  return [
    {
      heading: 'Provider',
      content: ({ name, form, isRouted, ...provider }) =>
        html`${name} <small>${form === null ? 'not in the file' : `Form ${form}${isRouted ? '' : ', not routed'}`}</small>${settingsOf(provider)}`,
    },
    {
      heading: 'State',
      content: ({ state }) => html`<span class="state ${isOld ? '' : state}">${isOld ? 'was ' : ''}${state}</span>`,
    },
    ...(strategy === 'weighted' ? [number('Weight', ({ weight }) => integer(weight))] : []),
    number(
      'Share of new swaps',
      live(({ share }) => percent(share)),
    ),
    number(
      'p50 / p95',
      live(({ latencyMs: { p50, p95 } }) => html`${integer(p50 && Math.round(p50))} / ${milliseconds(p95)}`),
    ),
    number('Failed calls', live(failedText)),
    { heading: 'Breakers', content: live((figures) => breakers(figures, isOld)) },
    { heading: 'Budget left', content: live(({ budgetLeft }) => (isBudgetKnown ? budgetText(budgetLeft) : 'not known')) },
    number(
      'Refused, counted',
      live(({ judgements }) => judgementText(judgements)),
    ),
    number(
      'Off its quotes',
      live(({ quoteDeviation }) => deviation(quoteDeviation)),
    ),
    number('Open', openCell),
    number('Unknown creates', unknownCell),
    ...(mirror
      ? [
          number(
            'Mirror deviation',
            live((figures) => mirrorText(figures.mirror)),
          ),
        ]
      : []),
    { heading: 'Change', content: (provider) => buttons(provider, open) },
  ]
}

/** What the operator earns there, and from which account something else. */
function settingsOf({ settings, accountSettings = {} }) {
  const lines = [...(settings ? [['', settings]] : []), ...Object.entries(accountSettings)]
  if (lines.length === 0) return nothing
  const textOf = (own) =>
    Object.entries(own)
      .map(([setting, value]) => `${setting} ${value || 'none'}`)
      .join(', ')
  return html`<details>
    <summary><small>Settings</small></summary>
    ${lines.map(([account, own]) => html`<small>${account === '' ? '' : html`<b>${account}</b>: `}${textOf(own)}</small><br />`)}
  </details>`
}

function unknownCell({ name, unknownCreates }) {
  if (unknownCreates === 0) return '0'
  return html`<a class="alarm" href=${linkTo('person', { query: { kind: 'create', provider: name } })}>${integer(unknownCreates)}</a>`
}

function failedText({ failedCalls, calls }) {
  const text = `${integer(failedCalls)} of ${integer(calls)}`
  return failedCalls > 0 ? html`<b class="alarm">${text}</b>` : text
}

function breakers({ breaker }, isOld) {
  const entries = Object.entries(breaker)
  if (entries.length === 0) return isOld ? 'were closed' : 'closed'
  return html`<b class="alarm">${entries.map(([operation, state]) => `${operation} ${state}`).join(', ')}</b>`
}

function budgetText(left) {
  const limited = Object.entries(left).filter(([, calls]) => calls !== null)
  return limited.length === 0
    ? 'unlimited'
    : limited.map(
        ([policy, calls], at) => html`${at > 0 ? ' ' : ''}<span class="pair"><small>${policy}</small> ${integer(calls)}</span>`,
      )
}

/** Judgements of creates in the last minute. */
function judgementText({ refused, counted: accepted }) {
  return html`${refused > 0 ? html`<b class="alarm">${integer(refused)}</b>` : '0'}, ${integer(accepted)}`
}

function mirrorText(mirror) {
  if (!mirror) return none
  return html`${deviation(mirror.medianDeviation)} <small>median of ${integer(mirror.samples)}</small>`
}

/** While a provider drains, a bar shows how much of the most that was open is still open. */
function openCell(provider) {
  const count = openCount(provider)
  const most = provider.state === 'active' ? count : Math.max(count, mostOpen.get(provider.name) ?? 0)
  mostOpen.set(provider.name, most)
  if (provider.state !== 'draining') return html`<span data-open>${integer(count)}</span>`
  const label = `${counted(count, 'transaction')} of ${integer(most)} still open at ${provider.name}`
  return html`<span data-open>${integer(count)}</span> <progress .value=${most === 0 ? 1 : 1 - count / most} aria-label=${label}></progress>`
}

const actions = [
  ['draining', 'Drain'],
  ['active', 'Activate'],
  ['off', 'Off'],
]

/** The button of the present state stays in place, so that the keyboard's focus is not lost with it. */
function buttons({ name, form, state: current }, open) {
  if (form === null) return none
  return html`<div class="buttons">
    ${actions.map(([state, label]) =>
      changeButton({
        role: 'operate',
        label: `${label}…`,
        name: `${label} ${name}`,
        isOff: state === current,
        onClick: () => open({ kind: 'state', name, state }),
      }),
    )}
  </div>`
}
