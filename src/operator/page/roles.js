/** What the token may do. The gateway refuses the rest; the page does not offer it. */
import { html, nothing } from 'lit-html'

const none = { name: '', roles: [] }
let token = none

/** `{ name, roles }` of `/token`; undefined: nobody is signed in. */
export function setRoles(known = none) {
  token = known
}

export function may(role) {
  return token.roles.includes(role)
}

/** A button that opens a dialog, or one that is off and says why. `name`: what it is called where its label is not enough. */
export function changeButton({ role, label, name, isOff = false, onClick }) {
  const isMissing = !may(role)
  return html`<button
    type="button"
    aria-label=${name ?? nothing}
    aria-disabled=${isMissing || isOff ? 'true' : nothing}
    title=${isMissing ? `Your token lacks the role ${role}` : nothing}
    @click=${() => !isMissing && !isOff && onClick()}
  >${label}</button>`
}

/** What the token lacks, in words. */
export function rolesText() {
  const lacks = [
    ...(may('operate') ? [] : ['switch providers, set limits and revoke keys (operate)']),
    ...(may('money') ? [] : ['settle, and see whole addresses (money)']),
  ]
  return lacks.length === 0
    ? nothing
    : html`<p class="roles">The token of ${token.name} may not ${lacks.join(', nor ')}. These buttons are off.</p>`
}
