/** Where the page is: the fragment of its URL, like `#/swaps?q=acme`, so that a link to it can be sent to somebody. */

export const viewNames = ['overview', 'person', 'swaps', 'swap', 'accounts', 'webhooks', 'audit']

/** `view`, `id` of what it shows, and its filters as `query`. */
export function placeOf(hash) {
  const [, path = '', query = ''] = /^#?\/?([^?]*)\??(.*)$/s.exec(hash) ?? []
  const [view, ...rest] = path.split('/')
  return {
    view: viewNames.includes(view) ? view : 'overview',
    id: decoded(rest.join('/')),
    query: Object.fromEntries([...new URLSearchParams(query)].filter(([, value]) => value !== '')),
  }
}

/** What is empty is left out of the query. */
export function linkTo(view, { id, query = {} } = {}) {
  const path = id === undefined ? view : `${view}/${encodeURIComponent(id)}`
  const filters = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== undefined && value !== ''))
  return filters.size === 0 ? `#/${path}` : `#/${path}?${filters}`
}

/** The page of a swap: by the id of its transaction or of its create. */
export function linkToSwap(id) {
  return linkTo('swap', { id })
}

function decoded(text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
