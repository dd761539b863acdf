/** The dialog of a change: explains it, sends it, and offers to force it if it is refused. */
import { html, nothing, render } from 'lit-html'
import { ApiError, call } from './api.js'
import { changeOf } from './changes.js'

const element = document.getElementById('dialog')

export class ChangeDialog {
  #onDone
  #onLost
  /** The requested change; undefined while the dialog is closed. */
  #wanted
  #report
  #refusal
  #isBusy = false

  /** `onDone(text)` after a change; `onLost(error)` where the token is not valid any more. */
  constructor({ onDone, onLost }) {
    this.#onDone = onDone
    this.#onLost = onLost
    element.addEventListener('cancel', (event) => this.#isBusy && event.preventDefault())
    // The event follows later: the dialog may be open again.
    element.addEventListener('close', () => element.open || this.#clear())
  }

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
    const { name } = this.#wanted ?? {}
    if (name !== undefined && !report.providers.some((provider) => provider.name === name)) return this.close()
    if (this.#wanted) render(this.#template(), element)
  }

  #clear() {
    this.#wanted = undefined
    this.#refusal = undefined
    render(nothing, element)
  }

  #template() {
    const { title, label, text, fields } = changeOf(this.#wanted, this.#report)
    const busy = this.#isBusy ? 'true' : nothing
    return html`<form @submit=${(event) => this.#submit(event)} aria-busy=${busy}>
      <h2 id="dialog-title" tabindex="-1" autofocus>${title}</h2>
      ${text.map((paragraph) => html`<p>${paragraph}</p>`)}
      ${fields ? html`<div class="fields">${fields}</div>` : nothing}
      <div role="alert">${this.#refusal ? html`<p class="error">${this.#refusal.message}</p>` : nothing}</div>
      <div class="buttons">
        <button type="button" aria-disabled=${busy} @click=${() => this.#isBusy || this.close()}>Cancel</button>
        ${
          this.#refusal?.canForce
            ? html`<button type="submit" class="danger" name="force" value="true" aria-disabled=${busy}>Do it all the same</button>`
            : html`<button type="submit" class="primary" aria-disabled=${busy}>${label}</button>`
        }
      </div>
    </form>`
  }

  async #submit(event) {
    event.preventDefault()
    if (this.#isBusy) return
    const { request, done } = changeOf(this.#wanted, this.#report)
    const [path, options] = request(new FormData(event.target), event.submitter?.name === 'force')
    this.#isBusy = true
    this.refresh(this.#report)
    try {
      const answer = await call(path, options)
      this.close()
      this.#onDone(done(answer))
    } catch (error) {
      this.#refuse(error)
    } finally {
      this.#isBusy = false
      this.refresh(this.#report)
      if (this.#refusal) element.querySelector('h2').focus()
    }
  }

  #refuse(error) {
    if (!(error instanceof ApiError)) throw error
    if (error.status === 401) return this.#onLost(error)
    this.#refusal = error
  }
}
