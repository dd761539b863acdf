/** A part of a view that shows one reading, and says how old that is where it may not be so any more. */
import { html, nothing } from 'lit-html'
import { duration, time } from './format.js'

/** `note` stands beside the title, `action` at the end of its line. */
export function section({ id, title, reading, note, action, content }) {
  const { value, isOld } = reading
  return html`<section aria-labelledby=${id} ?data-old=${isOld}>
    <div class="head"><h2 id=${id} tabindex="-1">${title}</h2><p>${note ?? (value === undefined && !isOld ? 'Loading…' : nothing)}</p>${action ?? nothing}</div>
    ${isOld ? html`<p class="old">${oldText(reading)}</p>` : nothing} ${content}
  </section>`
}

function oldText({ value, at, ageMs, problem }) {
  // That there is no answer at all stands above everything.
  const why = problem && problem.status !== 0 ? `${problem.message} ` : ''
  if (value === undefined) return `${why}Nothing is known yet.`
  return `${why}This is what was so ${duration(ageMs)} ago, at ${time(at)}.`
}
