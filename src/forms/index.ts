/** The list of forms: the only place that names them all. */
import type { Form } from '../wire/form.ts'
import { formA } from './a.ts'
import { formB } from './b.ts'

export const forms: readonly Form[] = [formA, formB]
