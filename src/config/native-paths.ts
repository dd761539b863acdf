/** Checks the paths of a provider's native lane against the operations of its form (docs/contract.md §11). */
import { overlaps, parseOpenPath } from '../domain/native/open-path.ts'
import { ops } from '../domain/swap/operations.ts'
import type { Form } from '../wire/form.ts'
import type { Faults } from './faults.ts'

/** An entry must not match an operation: the native lane does not apply the rules of operations. */
export function checkNativePaths(entries: readonly string[], { operations }: Form, faults: Faults): void {
  for (const [at, entry] of entries.entries()) {
    const openPath = parseOpenPath(entry)
    if (!openPath) faults.add(['native', at], 'must be a method and a path, like GET /coins/{}/networks')
    else if (ops.some((op) => overlaps(openPath, operations[op].method, operations[op].path.pattern)))
      faults.add(['native', at], 'overlaps an operation of the form')
    else if (entries.indexOf(entry) !== at) faults.add(['native', at], 'is given twice')
  }
}
