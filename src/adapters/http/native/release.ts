/** node:v8: has what was read freed in time. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** Every read of a socket makes a buffer of 64 KB, and V8 lets 64 MB of these wait until it looks for what is not used any more. */
const intervalBytes = 2 * 1_048_576

type Collect = (options: { readonly type: 'minor' }) => void

let collect: Collect | undefined
let bytes = 0

/** Counts what was streamed, by all together. Looking takes 1 to 2 ms. */
export function countStreamed(length: number): void {
  bytes += length
  if (bytes < intervalBytes) return
  bytes = 0
  collect ??= exposeCollection()
  collect({ type: 'minor' })
}

function exposeCollection(): Collect {
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc') as Collect
}
