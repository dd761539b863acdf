/** The list of forms: the only place that names them all. */
import type { Form } from '../wire/form.ts'
import { formA } from './a.ts'
import { formB } from './b.ts'

export const forms: readonly Form[] = [formA, formB]

/** Throws where none has this name. */
export function formNamed(name: string, candidates = forms): Form {
  const found = candidates.find((form) => form.name === name)
  if (!found) throw new Error(`There is no form ${name}.`)
  return found
}
