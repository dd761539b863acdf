/** The lists of forms: the only place that names them all. */
import type { Form } from '../wire/form.ts'
import { findProviderForm, type KnownForms, type ProviderForm, providerFormOf } from '../wire/provider-form.ts'
import { formA } from './a.ts'
import { formB } from './b.ts'
import { changelly } from './changelly.ts'
import { changenow } from './changenow.ts'
import { exolix } from './exolix.ts'
import { exolixClient } from './exolix-client.ts'
import { fixedfloat } from './fixedfloat.ts'
import { letsexchange } from './letsexchange.ts'
import { sideshift } from './sideshift.ts'
import { simpleswap } from './simpleswap.ts'
import { stealthex } from './stealthex.ts'

/** The forms of the service itself. */
export const serviceForms: readonly Form[] = [formA, formB]
/** Forms that clients may use. */
export const forms: readonly Form[] = [...serviceForms, exolixClient]
/** Forms that providers may have. */
export const providerForms: readonly ProviderForm[] = [
  ...serviceForms.map(providerFormOf),
  exolix,
  changenow,
  letsexchange,
  stealthex,
  changelly,
  sideshift,
  simpleswap,
  fixedfloat,
]

/** What the configuration checks names against. */
export const knownForms: KnownForms = { forms, providerForms }

/** Throws where none has this name, in any case. */
export function formNamed(name: string, candidates = forms): Form {
  const found = candidates.find((form) => form.name.toLowerCase() === name.toLowerCase())
  if (!found) throw new Error(`There is no form ${name}.`)
  return found
}

/** Throws where none has this name, in any case. */
export function providerFormNamed(name: string, candidates = providerForms): ProviderForm {
  const found = findProviderForm(name, candidates)
  if (!found) throw new Error(`There is no form ${name}.`)
  return found
}
