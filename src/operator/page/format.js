/** Numbers, times and words as the page prints them. */

export const none = '–'

const integers = new Intl.NumberFormat('en')
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })
const deviations = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2, signDisplay: 'exceptZero' })
const times = new Intl.DateTimeFormat('en-GB', {
  month: 'short',
  day: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})

const orNone = (format) => (value) => (value === null || value === undefined ? none : format(value))

export const integer = orNone((value) => integers.format(value))
export const percent = orNone((value) => shares.format(value))
export const deviation = orNone((value) => deviations.format(value))
export const milliseconds = orNone((value) => `${integers.format(Math.round(value))} ms`)
/** In the time zone of the browser. */
export const time = orNone((text) => (Number.isNaN(Date.parse(text)) ? text : times.format(new Date(text))))

/** `1 open transaction`, `2 open transactions`. */
export function counted(count, noun) {
  return `${integers.format(count)} ${noun}${count === 1 ? '' : 's'}`
}

export function list(names) {
  return names.length === 0 ? 'none' : names.join(', ')
}

/** A value of JSON in one line. */
export function inline(value) {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** `0.1 BTC to ETH`, from the fields of an order. */
export function orderText({ amountIn, codeFrom, coinFrom, codeTo, coinTo }) {
  return `${amountIn ?? '?'} ${codeFrom ?? coinFrom ?? '?'} to ${codeTo ?? coinTo ?? '?'}`
}
