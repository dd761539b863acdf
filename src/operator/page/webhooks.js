/** Webhooks of accounts, with what changes them, and what one of them was sent, with each attempt. */
import { html, nothing } from 'lit-html'
import { callPage } from './api.js'
import { filters } from './filters.js'
import { integer, list, milliseconds, none, when } from './format.js'
import { facts, lines } from './lines.js'
import { linkTo, linkToSwap } from './navigation.js'
import { changeButton } from './roles.js'
import { section } from './section.js'

const pageSize = 100

/** A page of them, and what the next one comes after. `id`: of the webhook whose deliveries are shown; empty: none. */
export async function readDeliveries({ id, query: { failed, after } }) {
  if (id === '') return { rows: [] }
  const query = new URLSearchParams({ size: pageSize, ...(failed === 'true' && { failed }), ...(after && { after }) })
  const { rows, next } = await callPage(`/webhooks/${encodeURIComponent(id)}/deliveries?${query}`)
  return { rows, after: next && new URLSearchParams(next.slice(next.indexOf('?'))).get('after') }
}

export function webhooksView({ webhooks, deliveries, accounts, id, query, open }) {
  const rows = webhooks.value ?? []
  const isRemoved = webhooks.value !== undefined && rows.every((webhook) => webhook.id !== id)
  return html`${section({
    id: 'webhooks',
    title: 'Webhooks',
    reading: webhooks,
    note: webhooks.value && integer(rows.length),
    action: changeButton({
      role: 'money',
      label: 'New webhook…',
      onClick: () => open({ kind: 'newWebhook', accounts: (accounts.value ?? []).map(({ name }) => name) }),
    }),
    content: !webhooks.value
      ? nothing
      : rows.length === 0
        ? html`<p class="empty">No account has a webhook.</p>`
        : webhooksTable(rows, open),
  })} ${id === '' || isRemoved ? nothing : deliveriesSection({ deliveries, id, query, open })}`
}

function webhooksTable(rows, open) {
  return lines({
    name: 'webhooks',
    caption: 'Webhooks',
    columns: [
      { name: 'url first', heading: 'URL', content: ({ id, url }) => html`<a href=${linkTo('webhooks', { id })}>${url}</a>` },
      { name: 'state first-end', heading: 'State', content: ({ state }) => state },
      { name: 'account second', heading: 'Account', content: ({ account }) => account },
      { name: 'counts second-end', heading: 'Deliveries', content: countsText },
      { name: 'actions wide-only', heading: 'Change', content: (webhook) => webhookButtons(webhook, open) },
    ],
    groups: [{ key: 'all', rows }],
    idOf: ({ id }) => id,
    details: (webhook) => html`${facts([
      ['Id', html`<code>${webhook.id}</code>`],
      ['URL', html`<code>${webhook.url}</code>`],
      ['Account', webhook.account],
      ['Form', webhook.form],
      ['State', webhook.state],
      ['Added', when(webhook.createdAt)],
      ['The secret before signs until', webhook.oldSecretEndsAt && when(webhook.oldSecretEndsAt)],
      ['Deliveries', html`${countsText(webhook)} <a href=${linkTo('webhooks', { id: webhook.id })}>Show them</a>`],
    ])}
    <div class="buttons">${webhookButtons(webhook, open)}</div>`,
  })
}

function countsText({ waiting, failed }) {
  const failures = `${integer(failed)} failed`
  return html`${integer(waiting)} wait, ${failed > 0 ? html`<b class="alarm">${failures}</b>` : failures}`
}

function webhookButtons(webhook, open) {
  return html`${change('operate', 'Test', webhook, open)}${change('money', 'Rotate', webhook, open)}${change('money', 'Remove', webhook, open)}`
}

function change(role, label, webhook, open) {
  return changeButton({
    role,
    label: `${label}…`,
    name: `${label} ${webhook.id}`,
    onClick: () => open({ kind: `${label.toLowerCase()}Webhook`, webhook }),
  })
}

function deliveriesSection({ deliveries, id, query, open }) {
  const { rows = [], after } = deliveries.value ?? {}
  return section({
    id: 'deliveries',
    title: 'Deliveries',
    reading: deliveries,
    note: html`<code>${id}</code>`,
    content: deliveries.value
      ? html`${filters({
          view: 'webhooks',
          id,
          query,
          label: 'Filter deliveries',
          fields: html`<label class="check"><input type="checkbox" name="failed" value="true" .checked=${query.failed === 'true'} /> Only what has failed for good</label>`,
        })} ${rows.length === 0 ? html`<p class="empty">Nothing.</p>` : deliveriesTable(rows, open)}
          ${after ? html`<p class="pages"><a href=${linkTo('webhooks', { id, query: { ...query, after } })}>Older</a></p>` : nothing}`
      : nothing,
  })
}

function deliveriesTable(rows, open) {
  return lines({
    name: 'deliveries',
    caption: 'Deliveries',
    columns: [
      { name: 'id first', heading: 'Id', content: ({ id }) => html`<code>${id}</code>` },
      { name: 'state first-end', heading: 'State', content: stateText },
      {
        name: 'transaction second',
        heading: 'Swap',
        content: ({ transaction }) => html`<a href=${linkToSwap(transaction)}><code>${transaction}</code></a>`,
      },
      {
        name: 'last second-end',
        heading: 'Last attempt',
        content: ({ attempts }) => (attempts.length > 0 ? attemptText(attempts.at(-1)) : none),
      },
      { name: 'actions wide-only', heading: 'Change', content: (delivery) => again(delivery, open) },
    ],
    groups: [{ key: 'all', rows }],
    idOf: ({ id }) => id,
    details: (delivery) => html`${facts([
      ['Id', html`<code>${delivery.id}</code>`],
      ['Made', when(delivery.createdAt)],
      ['Ended', delivery.endedAt && when(delivery.endedAt)],
    ])}
    ${delivery.attempts.length === 0 ? html`<p>No attempt was made yet.</p>` : html`<ol class="attempts">${delivery.attempts.map(attemptLine)}</ol>`}
    <div class="buttons">${again(delivery, open)}</div>`,
  })
}

function stateText({ state }) {
  return state === 'failed' ? html`<b class="alarm">${state}</b>` : state
}

/** What came back: a status, or why none did. */
export function answerText({ status, reason, ms }) {
  return list([status ?? `no answer${reason ? ` (${reason})` : ''}`, milliseconds(ms)])
}

function attemptText(attempt) {
  return html`${answerText(attempt)}, ${when(attempt.at)}`
}

function attemptLine(attempt) {
  return html`<li>${attemptText(attempt)}${attempt.body ? html`: <code>${attempt.body}</code>` : nothing}</li>`
}

function again(delivery, open) {
  return changeButton({
    role: 'operate',
    label: 'Send again…',
    name: `Send again: ${delivery.id}`,
    onClick: () => open({ kind: 'replay', delivery }),
  })
}
