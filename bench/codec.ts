/** What a Form B transaction costs on its way into Form A, against `JSON.parse` + `JSON.stringify` of the same body. */
import { formA } from '../src/forms/a.ts'
import { formB } from '../src/forms/b.ts'
import { parseJson } from '../src/wire/json.ts'
import { median } from './median.ts'
import { transactionText } from './transaction.ts'

const rounds = 15
const calls = 40_000
const context = { statuses: new Map(), drift: () => {} }
const { responseCodec: from } = formB.operations.getTransaction
const { responseCodec: to } = formA.operations.getTransaction
let sink = 0

/** Form B's text in, Form A's text out: exact digits, duplicates refused, every field checked. */
function translate(): void {
  const { fields: known } = from.decode(parseJson(transactionText), context)
  const named = { ...known, codeFrom: 'BTC', codeTo: 'USDTTRC20', updatedAt: known.createdAt }
  sink += to.encode(named, new Set()).length
}

function native(): void {
  sink += JSON.stringify(JSON.parse(transactionText)).length
}

/** Microseconds for each call. */
function time(call: () => void): number {
  const start = process.hrtime.bigint()
  for (let n = 0; n < calls; n++) call()
  return Number(process.hrtime.bigint() - start) / calls / 1000
}

for (const call of [translate, native, translate, native]) time(call)
const pairs = Array.from({ length: rounds }, () => ({ translate: time(translate), native: time(native) }))
const ratios = pairs.map((pair) => pair.translate / pair.native)
const column = (values: readonly number[]): string => values.map((value) => value.toFixed(2)).join(' ')
console.log(`decode + encode, µs       ${column(pairs.map((pair) => pair.translate))}`)
console.log(`parse + stringify, µs     ${column(pairs.map((pair) => pair.native))}`)
console.log(
  `ratio, median of ${rounds}       ${median(ratios).toFixed(2)} (${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)}); at most 3 is wanted`,
)
process.exitCode = sink > 0 && median(ratios) <= 3 ? 0 : 1
