import type { Observation } from '../../domain/telemetry/observation.ts'

type What = Observation['what']

/** What is done with each kind of observation that is named. */
export type Handlers<W extends What> = {
  readonly [K in W]: (observation: Extract<Observation, { readonly what: K }>) => void
}

/** A provider as it is configured. */
export interface ConfiguredProvider {
  readonly tag: string
  readonly form: string
  readonly state: string
  readonly budget: Readonly<Record<string, number>>
}

/** All that are configured now. */
export type Providers = () => readonly ConfiguredProvider[]

/** The form of a provider, by tag; `none` where no provider answered. */
export type FormOf = (tag: string | undefined) => string
