/** `deploy/compose.yaml` as data, with the files beside it. */
import { readFileSync } from 'node:fs'
import { parse } from 'yaml'

export interface Service {
  readonly image: string
  readonly user: string
  readonly build?: { readonly context: string }
  readonly read_only: boolean
  readonly cap_drop: readonly string[]
  readonly security_opt: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  readonly command?: readonly string[]
  readonly ports?: readonly string[]
  readonly volumes?: readonly string[]
  readonly secrets?: readonly string[]
  readonly networks: readonly string[]
  readonly depends_on?: readonly string[] | Readonly<Record<string, unknown>>
  readonly healthcheck?: { readonly test: readonly string[] }
  readonly stop_grace_period?: string
  readonly deploy: { readonly resources: { readonly limits: { readonly cpus: string; readonly memory: string } } }
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>
  readonly networks: Readonly<Record<string, { readonly internal?: boolean }>>
  readonly volumes: Readonly<Record<string, unknown>>
  readonly secrets: Readonly<Record<string, { readonly file: string }>>
}

export const readDeploy = (file: string): string => readFileSync(`deploy/${file}`, 'utf8')

export const source = readDeploy('compose.yaml')
export const compose = parse(source, { merge: true }) as Compose
export const services = Object.entries(compose.services)

/** Those that are gateways. */
export const gateways = services.filter(([, { image }]) => image.startsWith('swapgate:')).map(([name]) => name)

/** By its name; throws where there is none. */
export function serviceOf(name: string): Service {
  return compose.services[name] ?? fail(`compose.yaml has no service ${name}`)
}

/** The file of `deploy/` that a container has at a path; undefined if there is none. */
export function mounted(service: Service, path: string): string | undefined {
  const mounts = (service.volumes ?? []).map((volume) => volume.split(':'))
  return mounts.find(([, target]) => target === path)?.[0]
}

function fail(message: string): never {
  throw new Error(message)
}
