/** What happened to a swap, a line for each event. */
import { html, nothing } from 'lit-html'
import { inline, integer, list, none, preciseTime, when } from './format.js'

const routingReasons = {
  picked: 'the caller chose it',
  quoted: 'it had quoted this request',
  best_quote: 'it quotes the most',
  weight: 'by weight',
  order: 'the first in order',
}
const omissions = { draining: 'is draining', off: 'is off', weight_0: 'has weight 0' }
const quoteSources = {
  own: 'a quote for this create',
  choice: 'the quote by which it was routed',
  newest: 'the newest quote of the last minute',
}

/** What a row of an event says: `title`, `text`, `ms` that it took, and whether it went wrong. */
const rows = {
  requested: ({ requestId, keyId }) => ({
    title: 'Requested',
    text: html`request ${code(requestId)}${keyId ? html`, key ${code(keyId)}` : nothing}`,
  }),
  routed: ({ provider, strategy, because, omitted = [] }) => ({
    title: 'Routed',
    text: html`to <b>${provider}</b>: ${routingReasons[because] ?? because} (strategy ${strategy})${omitted.map((one) => html`; ${one.provider} ${omissions[one.because] ?? one.because}`)}`,
  }),
  compared: ({ provider, amountIn, amountOut = amountIn, reason }) => ({
    title: 'Compared',
    text: html`<b>${provider}</b> ${amountOut === undefined ? (reason ?? 'names no amount') : `quotes ${amountOut}`}`,
  }),
  passed_over: ({ provider, reason, because }) => ({
    title: 'Passed over',
    text: html`<b>${provider}</b>: ${[reason, because].filter(Boolean).join(', ')}`,
    isWrong: true,
  }),
  quoted: ({ provider, source, rateType, amountIn, amountOut, rate }) => ({
    title: 'Quote',
    text: html`<b>${provider}</b>: ${amountIn} gives ${amountOut}${rate === undefined ? nothing : `, rate ${rate}`}${rateType === undefined ? nothing : `, ${rateType}`} (${quoteSources[source] ?? source})`,
  }),
  call: (fact) => ({ title: 'Call', text: callText(fact), ms: fact.milliseconds, isWrong: fact.outcome !== 'done' }),
  outcome: ({ outcome, status, fields = [] }) => ({
    title: 'Outcome',
    text: html`<b>${outcome}</b>${status ? html`, ${status}` : nothing}${fields.length > 0 ? html`, differs in ${list(fields)}` : nothing}`,
    isWrong: outcome === 'unknown' || outcome === 'mismatch',
  }),
  search: ({ outcome, candidates, price, calls = [] }) => ({
    title: 'Looked for',
    text: html`${outcome}${candidates > 0 ? html`, may be one of ${integer(candidates)}` : nothing}${price ? ', no price was known' : nothing}${calls.map((call) => html`; ${callText(call)}, ${integer(call.milliseconds)} ms`)}`,
  }),
  reads_failed: (fact) => ({ title: 'Reads failed', text: failedText(fact), isWrong: true }),
  status: ({ from, to, attention }) => ({
    title: 'Status',
    text: html`${from ?? 'unknown'} → <b>${to ?? 'unknown'}</b>${attention ? html`, <b class="alarm">${attention}</b>` : nothing}`,
    isWrong: Boolean(attention),
  }),
  person: ({ actor, action, decision }) => ({
    title: 'Person',
    text: html`<b>${actor}</b>: <code>${action}</code>${decision === undefined || decision === null ? nothing : html` <code>${inline(decision)}</code>`}`,
  }),
}

export function timelineList(events) {
  if (events.length === 0)
    return html`<p class="empty">Nothing was noted of it: it is older than this version, or its events have been removed.</p>`
  return html`<ol class="timeline" aria-label="Timeline">${events.map(line)}</ol>`
}

/** The last call that went wrong: in most cases the cause. */
export function lastFailure(events) {
  const fact = events.findLast(({ event, outcome }) => event === 'call' && outcome !== 'done')
  return fact && html`${callText(fact)}, ${integer(fact.milliseconds)} ms`
}

/** `timed_out, 3 tries since 18:40`. */
export function failedText({ since, tries, outcome, cause }) {
  return html`<b>${outcome}</b>${cause ? html` (${cause})` : nothing}, ${tries === 1 ? '1 try' : `${integer(tries)} tries`} since ${when(since)}`
}

/** An event of a later version is shown as it came. */
function line({ at, event, ...fact }) {
  const {
    title,
    text,
    ms,
    isWrong = false,
  } = Object.hasOwn(rows, event) ? rows[event](fact) : { title: event, text: html`<code>${inline(fact)}</code>` }
  return html`<li class="event">
    <time datetime=${at} title=${at}>${preciseTime(at)}</time>
    <b class="event-title ${isWrong ? 'alarm' : ''}">${title}</b>
    <span class="event-text">${text}</span>
    <span class="milliseconds">${ms === undefined ? nothing : `${integer(ms)} ms`}</span>
  </li>`
}

function callText({ operation, provider, status, outcome, cause }) {
  return html`<code>${operation}</code> at <b>${provider}</b>: ${status ?? 'no response'}${outcome === 'done' ? nothing : html`, <b class="alarm">${outcome}</b>`}${cause === undefined ? nothing : `, ${cause}`}`
}

function code(text) {
  return text ? html`<code>${text}</code>` : none
}
