/** The token of a phone's tab, over reloads: until the tab closes, or an hour has passed without use. A tab elsewhere keeps none. */

// Behind a proxy other pages may have the same origin.
const name = 'swapgate-operator-token'
const lifetimeMs = 3_600_000

export const isPhone = matchMedia('(pointer: coarse)').matches
let token
let timer

/** Undefined where there is none any more. */
export function keptToken() {
  const kept = withStorage((storage) => JSON.parse(storage.getItem(name)))
  if (!kept) return undefined
  const ageMs = Date.now() - kept.usedAt
  if (ageMs >= 0 && ageMs < lifetimeMs) return kept.token
  forgetToken()
  return undefined
}

/** In the place of the one before. */
export function keepToken(given) {
  if (!isPhone) return
  token = given
  renew()
}

export function forgetToken() {
  token = undefined
  clearTimeout(timer)
  withStorage((storage) => storage.removeItem(name))
}

function renew() {
  if (token === undefined) return
  clearTimeout(timer)
  timer = setTimeout(forgetToken, lifetimeMs)
  withStorage((storage) => storage.setItem(name, JSON.stringify({ token, usedAt: Date.now() })))
}

/** A browser may refuse it. */
function withStorage(use) {
  try {
    return use(sessionStorage)
  } catch {
    return undefined
  }
}

for (const use of ['pointerdown', 'keydown']) addEventListener(use, renew)
