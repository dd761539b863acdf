/** Tables that become cards where the screen is narrow. */
import { html, nothing } from 'lit-html'

/** `columns`: a heading and the content of a row's cell, each; `isNumber` aligns it. The first column heads the row. */
export function table({ caption, columns, rows, empty }) {
  if (rows.length === 0) return html`<p class="empty">${empty}</p>`
  return html`<table role="table" class="cards">
    <caption class="hidden">${caption}</caption>
    <thead role="rowgroup">
      <tr role="row">
        ${columns.map(({ heading, isNumber }) => html`<th role="columnheader" scope="col" class=${isNumber ? 'number' : nothing}>${heading}</th>`)}
      </tr>
    </thead>
    <tbody role="rowgroup">
      ${rows.map((row) => html`<tr role="row" class="row" data-row=${row.name ?? row.id ?? row.intent}>${columns.map((column, at) => cell(column, at, row))}</tr>`)}
    </tbody>
  </table>`
}

function cell({ heading, content, isNumber }, at, row) {
  const value = content(row)
  if (at === 0) return html`<th role="rowheader" scope="row">${value}</th>`
  return html`<td role="cell" data-heading=${heading} class=${isNumber ? 'number' : nothing}><div>${value}</div></td>`
}
