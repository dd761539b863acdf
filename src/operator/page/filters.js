/** Filters of a view, which are in its URL. */
import { html } from 'lit-html'
import { linkTo } from './navigation.js'

/** `fields`: inputs and selects; what is chosen is applied at once, what is typed with Enter. */
export function filters({ view, id, query, label, fields }) {
  const apply = (form) => {
    location.hash = linkTo(view, { id, query: Object.fromEntries(new FormData(form)) })
  }
  const submit = (event) => {
    event.preventDefault()
    apply(event.currentTarget)
  }
  const isFiltered = Object.keys(query).length > 0
  return html`<form class="filters" aria-label=${label} @submit=${submit} @change=${(event) => apply(event.currentTarget)}>
    ${fields} ${isFiltered ? html`<a href=${linkTo(view, { id })}>Show all</a>` : ''}
  </form>`
}

/** With `first` first, which is no value. A value that is not among the options stays chosen. */
export function select(name, options, chosen = '', textOf = (option) => option, first = 'any') {
  const all = chosen === '' || options.includes(chosen) ? options : [chosen, ...options]
  return html`<select name=${name} .value=${chosen}>
    <option value="" ?selected=${chosen === ''}>${first}</option>
    ${all.map((option) => html`<option value=${option} ?selected=${option === chosen}>${textOf(option) ?? option}</option>`)}
  </select>`
}
