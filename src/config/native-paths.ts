/** Checks the paths of a provider's native lane against the operations of its form (docs/contract.md §11). */
import { overlaps, parseOpenPath } from '../domain/native.ts'
import type { ProviderForm } from '../wire/provider-form.ts'
import type { Faults } from './faults.ts'

/** An entry must not match an operation: the native lane does not apply the rules of operations. */
export function checkNativePaths(entries: readonly string[], { operations, credential }: ProviderForm, faults: Faults): void {
  if (entries.length > 0 && credential.isSignature) faults.add(['native'], 'is not possible with a form that signs each call')
  for (const [at, entry] of entries.entries()) {
    const openPath = parseOpenPath(entry)
    if (!openPath) faults.add(['native', at], 'must be a method and a path, like GET /coins/{}/networks')
    else if (operations.some(({ method, path }) => overlaps(openPath, method, path.pattern)))
      faults.add(['native', at], 'overlaps an operation of the form')
    else if (entries.indexOf(entry) !== at) faults.add(['native', at], 'is given twice')
  }
}
