/** The dialog of a change: explains it, sends it, and offers to force it if it is refused. What follows is shown in its place. */
import { html, nothing, render } from 'lit-html'
import { ApiError, call } from './api.js'
import { changeOf } from './changes.js'
import { duration, integer } from './format.js'

const element = document.getElementById('dialog')

export class ChangeDialog {
  #onDone
  #onLost
  /** The requested change; undefined while the dialog is closed. */
  #wanted
  #report
  #refusal
  #progress
  #isBusy = false

  /** `onDone(text)` after a change; `onLost(error)` where the token is not valid any more. */
  constructor({ onDone, onLost }) {
    this.#onDone = onDone
    this.#onLost = onLost
    element.addEventListener('cancel', (event) => this.#isBusy && event.preventDefault())
    // The event follows later: the dialog may be open again.
    element.addEventListener('close', () => element.open || this.#clear())
  }

  /** `report`: the reading of the providers. */
  open(wanted, report) {
    this.#wanted = wanted
    this.refresh(report)
    element.showModal()
  }

  close() {
    if (element.open) element.close()
  }

  /** The counts that it names follow the report. */
  refresh(report) {
    this.#report = report
    const { name, kind } = this.#wanted ?? {}
    const isOfProvider = kind === 'state' || kind === 'resume'
    if (isOfProvider && !report.value.providers.some((provider) => provider.name === name)) return this.close()
    if (this.#wanted) render(this.#template(), element)
  }

  #clear() {
    this.#wanted = undefined
    this.#refusal = undefined
    this.#progress = undefined
    render(nothing, element)
  }

  #template() {
    const { title, label, text = [], fields, isDone, figuresOf } = changeOf(this.#wanted, this.#report.value)
    const busy = this.#isBusy ? 'true' : nothing
    return html`<form @submit=${(event) => this.#submit(event)} aria-busy=${busy}>
      <h2 id="dialog-title" tabindex="-1" autofocus>${title}</h2>
      ${text.map((paragraph) => html`<p>${paragraph}</p>`)}
      ${figuresOf === 'report' && this.#report.isOld ? html`<p class="old">The figures are ${duration(this.#report.ageMs)} old.</p>` : nothing}
      ${fields ? html`<div class="fields">${fields}</div>` : nothing}
      ${this.#progress ? html`<p><progress .value=${this.#progress.done} .max=${this.#progress.all} aria-label="Progress"></progress> ${integer(this.#progress.done)} of ${integer(this.#progress.all)}</p>` : nothing}
      <div role="alert">${this.#refusal ? html`<p class="error">${this.#refusal.message}</p>` : nothing}</div>
      <div class="buttons">
        ${isDone ? html`<button type="button" class="primary" @click=${() => this.close()}>Close</button>` : this.#decision(label, busy)}
      </div>
    </form>`
  }

  #decision(label, busy) {
    const send = this.#refusal?.canForce
      ? html`<button type="submit" class="danger" name="force" value="true" aria-disabled=${busy}>Do it all the same</button>`
      : html`<button type="submit" class="primary" aria-disabled=${busy}>${label}</button>`
    return html`<button type="button" aria-disabled=${busy} @click=${() => this.#isBusy || this.close()}>Cancel</button>${label === undefined ? nothing : send}`
  }

  async #submit(event) {
    event.preventDefault()
    const change = this.#wanted && changeOf(this.#wanted, this.#report.value)
    if (this.#isBusy || !change || change.isDone) return
    const form = new FormData(event.target)
    const isForced = event.submitter?.name === 'force'
    this.#isBusy = true
    this.#refusal = undefined
    this.refresh(this.#report)
    try {
      const answer = await (change.run?.((progress) => this.#show(progress)) ?? call(...change.request(form, isForced)))
      this.#follow(change, answer, form)
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#isBusy = false
      this.refresh(this.#report)
      if (element.open && (this.#refusal || change.next)) element.querySelector('h2').focus()
    }
  }

  #show(progress) {
    this.#progress = progress
    this.refresh(this.#report)
  }

  /** Shows what comes next, if anything. */
  #follow({ next, done }, answer, form) {
    this.#progress = undefined
    if (next) this.#wanted = next(answer, form)
    else this.close()
    if (done) this.#onDone(done(answer))
  }

  #refuse(error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return this.#onLost(error)
    this.#refusal = error
  }
}
