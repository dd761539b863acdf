/** The providers as they are now, with what can be changed. */
import { html, nothing } from 'lit-html'
import { counted, deviation, inline, integer, list, milliseconds, none, percent, time } from './format.js'
import { table } from './table.js'

/** The most transactions that were open at a draining provider while this page watched, by name. */
const mostOpen = new Map()

export function openCount({ openTransactions, pendingCreates, unknownCreates }) {
  return openTransactions + pendingCreates + unknownCreates
}

export function providersSection({ report, open }) {
  if (!report)
    return html`<section aria-labelledby="providers"><h2 id="providers">Providers</h2><p class="empty">Loading…</p></section>`
  const isWeighted = report.strategy === 'weighted'
  return html`<section aria-labelledby="providers">
    <div class="head">
      <h2 id="providers">Providers</h2>
      <p>${routingText(report)}</p>
      ${isWeighted ? html`<button type="button" @click=${() => open({ kind: 'weights' })}>Weights…</button>` : nothing}
    </div>
    ${report.overrides.length === 0 ? nothing : overrides(report.overrides, open)} ${suspensions(report.providers, open)}
    ${table({ caption: 'Providers', columns: columns(isWeighted, open), rows: report.providers, empty: 'No provider is configured.' })}
  </section>`
}

function routingText({ strategy, mirror }) {
  const mirrorText = mirror ? `; ${mirror.provider} also gets ${percent(mirror.sample)} of the quotes as a mirror` : ''
  return `Strategy ${strategy}${mirrorText}`
}

function overrides(list, open) {
  return html`<ul class="overrides">
    ${list.map(
      ({ key, value, actor, since, isAsleep }) => html`<li>
        <span><code>${key}</code> is <b>${inline(value)}</b>, set by ${actor} at <time datetime=${since}>${time(since)}</time>.${isAsleep ? ' It has no effect with this file.' : ''}</span>
        <button type="button" @click=${() => open({ kind: 'reset', key })} aria-label="Back to the file: ${key}">Back to the file…</button>
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
        <span><b class="alarm">${asset}</b>${network === null ? '' : ` on ${network}`} is out of new swaps at <b>${name}</b> since <time datetime=${since}>${time(since)}</time> until <time datetime=${until}>${time(until)}</time>: three mismatches in a row of <code>${kind}</code>.</span>
        <button type="button" @click=${() => open({ kind: 'resume', name })} aria-label="Offer again at ${name}: ${asset}">Offer again…</button>
      </li>`,
    )}
  </ul>`
}

function columns(isWeighted, open) {
  const number = (heading, content) => ({ heading, content, isNumber: true })
  const live = (content) => (provider) => (provider.live ? content(provider.live) : none)
  return [
    {
      heading: 'Provider',
      content: ({ name, form, isRouted }) =>
        html`${name} <small>${form === null ? 'not in the file' : `Form ${form}${isRouted ? '' : ', not routed'}`}</small>`,
    },
    { heading: 'State', content: ({ state }) => html`<span class="state ${state}">${state}</span>` },
    ...(isWeighted ? [number('Weight', ({ weight }) => integer(weight))] : []),
    number(
      'Share',
      live(({ share }) => percent(share)),
    ),
    number(
      'p50 / p95',
      live(({ latencyMs }) => html`${milliseconds(latencyMs.p50)} / ${milliseconds(latencyMs.p95)}`),
    ),
    number('Failed calls', live(failedText)),
    { heading: 'Breakers', content: live(breakers) },
    { heading: 'Budget left', content: live(({ budgetLeft }) => budgetText(budgetLeft)) },
    number(
      'Refused, counted',
      live(({ judgements }) => judgementText(judgements)),
    ),
    number(
      'Off its quotes',
      live(({ quoteDeviation }) => deviation(quoteDeviation)),
    ),
    number('Open', openCell),
    number('Unknown creates', ({ unknownCreates }) =>
      unknownCreates > 0 ? html`<b class="alarm">${integer(unknownCreates)}</b>` : '0',
    ),
    number(
      'Mirror deviation',
      live(({ mirror }) => mirrorText(mirror)),
    ),
    { heading: 'Change', content: (provider) => buttons(provider, open) },
  ]
}

function failedText({ failedCalls, calls }) {
  const text = `${integer(failedCalls)} of ${integer(calls)}`
  return failedCalls > 0 ? html`<b class="alarm">${text}</b>` : text
}

function breakers({ breaker }) {
  const entries = Object.entries(breaker)
  if (entries.length === 0) return 'closed'
  return html`<b class="alarm">${entries.map(([operation, state]) => `${operation} ${state}`).join(', ')}</b>`
}

function budgetText(left) {
  const limited = Object.entries(left).filter(([, calls]) => calls !== null)
  return limited.length === 0 ? 'unlimited' : list(limited.map(([policy, calls]) => `${policy} ${integer(calls)}`))
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
    ${actions.map(
      ([state, label]) =>
        html`<button
          type="button"
          aria-label="${label} ${name}"
          aria-disabled=${state === current ? 'true' : nothing}
          @click=${() => state !== current && open({ kind: 'state', name, state })}
        >${label}…</button>`,
    )}
  </div>`
}
