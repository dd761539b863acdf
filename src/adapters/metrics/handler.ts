import type { Observation } from '../../domain/observation.ts'

type What = Observation['what']

/** A handler for each named kind of observation. */
export type Handlers<W extends What> = {
  readonly [K in W]: (observation: Extract<Observation, { readonly what: K }>) => void
}

/** A provider of the configuration. */
export interface ConfiguredProvider {
  readonly tag: string
  readonly form: string
  readonly state: string
  readonly budget: Readonly<Record<string, number>>
}

/** The currently configured providers. */
export type Providers = () => readonly ConfiguredProvider[]

/** The form of a provider, by tag; `none` if no provider was called. */
export type FormOf = (tag: string | undefined) => string
