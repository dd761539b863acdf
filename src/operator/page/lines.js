/** Tables of one line a row, or two on a phone, which open to all that is known of it. */
import { html, nothing } from 'lit-html'
import { repeat } from 'lit-html/directives/repeat.js'

/** What is open, by table and row. */
const open = new Set()
let onToggle = () => {}

/** `listener` runs after a row was opened or closed. */
export function followToggles(listener) {
  onToggle = listener
}

/**
 * `columns`: a name for the style sheet, a heading and the content of a row's cell, each. `groups`: rows, and what heads them as
 * `head`, if anything. `details(row)`: what is shown below an open row; without it rows do not open.
 */
export function lines({ name, caption, columns, groups, idOf, details }) {
  const span = columns.length + (details ? 1 : 0)
  return html`<table role="table" class="lines ${name} ${details ? '' : 'closed'}">
    <caption class="hidden">${caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        ${details ? html`<td class="toggle corner" role="cell"></td>` : nothing}
        ${columns.map((column) => html`<th role="columnheader" scope="col" class=${column.name}>${column.heading}</th>`)}
      </tr>
    </thead>
    ${repeat(
      groups,
      ({ key }) => key,
      ({ head, rows }) => html`<tbody role="rowgroup">
        ${head ? html`<tr role="row" class="group-row"><th role="rowheader" class="group" scope="rowgroup" colspan=${span}><div class="group-head">${head}</div></th></tr>` : nothing}
        ${repeat(rows, idOf, (row) => line(row, { id: idOf(row), key: `${name} ${idOf(row)}`, columns, span, details }))}
      </tbody>`,
    )}
  </table>`
}

function line(row, { id, key, columns, span, details }) {
  const isOpen = details !== undefined && open.has(key)
  const toggle = () => {
    if (!open.delete(key)) open.add(key)
    onToggle()
  }
  return html`<tr role="row" class="line" data-row=${id}>
      ${
        details
          ? html`<td role="cell" class="toggle"><button type="button" class="toggle-button" aria-expanded=${isOpen ? 'true' : 'false'} aria-label="Details of ${id}" @click=${toggle}></button></td>`
          : nothing
      }
      ${columns.map(({ name, heading, content }, at) =>
        at === 0
          ? html`<th role="rowheader" scope="row" class="cell ${name}">${content(row)}</th>`
          : html`<td role="cell" class="cell ${name}" data-heading=${heading}>${content(row)}</td>`,
      )}
    </tr>
    ${isOpen ? html`<tr role="row" class="details-row"><td role="cell" class="details" colspan=${span}>${details(row)}</td></tr>` : nothing}`
}

/** Names and values; what has no value is left out. */
export function facts(pairs) {
  return html`<dl class="facts">
    ${pairs.map(([name, value]) => (value === undefined || value === null || value === false || value === '' ? nothing : html`<div class="fact"><dt>${name}</dt><dd>${value}</dd></div>`))}
  </dl>`
}
