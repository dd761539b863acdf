/** What to do first, as long as nobody has made a swap at the sandbox. */
import { html, nothing } from 'lit-html'
import { newKey } from './accounts.js'

/** `steps` of `/first-steps`. */
export function firstSteps({ steps, open }) {
  if (!steps) return nothing
  const { url, mode, docs } = steps
  const isManaged = mode === 'managed'
  return html`<section aria-labelledby="first-steps">
    <div class="head"><h2 id="first-steps" tabindex="-1">First steps</h2></div>
    <ol>
      <li>${isManaged ? html`Make a key for a client: ${newKey(open)}` : html`Take the key <code>${sandboxKey}</code>: it is the sandbox's, and public. You issue your own with <code>auth.mode: managed</code>.`}</li>
      <li>Make a swap: <pre><code>${createCommand(url, isManaged ? '<your key>' : sandboxKey)}</code></pre></li>
      ${docs ? html`<li>Open <a href=${`${url}/docs`}>the page of the API</a>, which also sends requests.</li>` : nothing}
    </ol>
  </section>`
}

const sandboxKey = 'sandbox-key-1'

/** As in the README. */
function createCommand(url, key) {
  return `curl -sS --fail-with-body ${url}/a/api/v2/transactions \\
  -H 'Authorization: Bearer ${key}' -H 'Content-Type: application/json' \\
  -d '{ "coinFrom": "BTC", "coinTo": "USDTTRC20", "amount": 0.10,
        "withdrawalAddress": "TQn9Y2khEsLJW1ChVWFMSMeRDow5KcbLSE" }'`
}
