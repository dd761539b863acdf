/** A token in the URL of the page, as a start prints it. It is out of the address bar and the tab's history before any other part of the page runs; the browser's list of visited URLs has it. */

let token

/** Once: nobody else gets it. */
export function takeToken() {
  hide()
  const taken = token
  token = undefined
  return taken
}

function hide() {
  const [, given] = /^#token=(.+)$/.exec(location.hash) ?? []
  if (given === undefined) return
  history.replaceState(null, '', location.pathname + location.search)
  token = given
}

hide()
