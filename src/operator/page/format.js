/** Numbers, times and words as the page prints them. */
import { html } from 'lit-html'

export const none = '–'

const integers = new Intl.NumberFormat('en')
const shares = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 0 })
const deviations = new Intl.NumberFormat('en', { style: 'percent', maximumFractionDigits: 2, signDisplay: 'exceptZero' })
const ofDay = { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', timeZoneName: 'short' }
const timeFormats = (zone) => ({
  thisYear: new Intl.DateTimeFormat('en-GB', { ...ofDay, second: '2-digit', ...zone }),
  otherYear: new Intl.DateTimeFormat('en-GB', { ...ofDay, year: 'numeric', ...zone }),
  precise: new Intl.DateTimeFormat('en-GB', { ...ofDay, second: '2-digit', fractionalSecondDigits: 3, ...zone }),
})
const here = timeFormats({})
const utc = timeFormats({ timeZone: 'UTC' })
let formats = here

/** Times are shown in the time zone of the browser, or in UTC, as logs have them. */
export function showTimesInUtc(isUtc) {
  formats = isUtc ? utc : here
}

export function isZoneUtc() {
  return here.thisYear.resolvedOptions().timeZone === 'UTC'
}

const orNone = (format) => (value) => (value === null || value === undefined ? none : format(value))

export const integer = orNone((value) => integers.format(value))
export const percent = orNone((value) => shares.format(value))
export const deviation = orNone((value) => deviations.format(value))
export const milliseconds = orNone((value) => `${integers.format(Math.round(value))} ms`)
/** With the zone. */
export const time = orNone((value) => {
  const at = new Date(value)
  if (Number.isNaN(at.getTime())) return value
  const { thisYear, otherYear } = formats
  return (at.getFullYear() === new Date().getFullYear() ? thisYear : otherYear).format(at).replace(', ', ' ')
})

/** With milliseconds. */
export function preciseTime(value) {
  const at = new Date(value)
  return Number.isNaN(at.getTime()) ? value : formats.precise.format(at).replace(', ', ' ')
}

/** A time, which a mouse that points at it gets in UTC to the millisecond. */
export function when(text) {
  return text ? html`<time datetime=${text} title=${text}>${time(text)}</time>` : none
}

const units = [
  [86_400_000, 'd'],
  [3_600_000, 'h'],
  [60_000, 'min'],
  [1_000, 's'],
]

/** `35 s`, `12 min`, `3 h`, `4 d`. */
export function duration(ms) {
  const [size, unit] = units.find(([unitMs]) => ms >= unitMs) ?? units.at(-1)
  return `${integers.format(Math.max(0, Math.floor(ms / size)))} ${unit}`
}

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

/** `0.1 BTC to ETH`, from the fields of an order; `BTC to 2 ETH` if only the amount that is to be received is known. */
export function orderText({ amountIn, amountOut, codeFrom, coinFrom, codeTo, coinTo }) {
  const [sent, received] = [codeFrom ?? coinFrom ?? '?', codeTo ?? coinTo ?? '?']
  return amountIn === undefined && amountOut !== undefined
    ? `${sent} to ${amountOut} ${received}`
    : `${amountIn ?? '?'} ${sent} to ${received}`
}

/** The first six and the last four characters. */
export function shortened(text) {
  return text.length <= 13 ? text : `${text.slice(0, 6)}…${text.slice(-4)}`
}
