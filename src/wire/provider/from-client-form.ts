/** Makes a provider's form of a client's form: the service uses one form for both. */
import { ops } from '../../domain/service.ts'
import type { Form } from '../form.ts'
import { plainKey } from './credential.ts'
import type { ProviderForm } from './form.ts'
import type { ProviderOperation } from './operation.ts'

/** The forms of clients and those of providers. */
export interface KnownForms {
  readonly forms: readonly Form[]
  readonly providerForms: readonly ProviderForm[]
}

/** By its name in any case. */
export function findProviderForm(name: string, candidates: readonly ProviderForm[]): ProviderForm | undefined {
  return candidates.find((form) => form.name.toLowerCase() === name.toLowerCase())
}

export function providerFormOf(form: Form): ProviderForm {
  const { name, capabilities } = form
  const operations = new Map(ops.map((op) => [op, operationOf(form, op)]))
  const rateNames = form.operations.getRate.responseNames
  const messages = Object.entries(form.error).flatMap(([wireName, part]) => (part === 'message' ? [wireName] : []))
  const [statusIn200] = Object.entries(form.error).flatMap(([wireName, part]) => (part === 'status' ? [wireName] : []))
  const limit = (field: string): readonly string[] => [rateNames.get(field)].filter((wireName) => wireName !== undefined)
  return {
    name,
    capabilities,
    credential: plainKey(form.credential),
    refusal: {
      messages,
      limits: { min: limit('minAmount'), max: limit('maxAmount'), areBoth: true },
      ...(statusIn200 !== undefined && { statusIn200 }),
    },
    keyed: new Set(ops.filter((op) => form.operations[op].keyed)),
    quotedFirst: new Set(),
    statuses: new Map(form.statuses.map((status) => [status, status])),
    networks: {},
    assets: {},
    depositMemo: [],
    flagsDepositMemos: false,
    settings: [],
    sendsAddress: false,
    operation: (op) => operations.get(op),
    operations: [...operations.values()],
    withExtraIdNames: (names) => providerFormOf(form.withExtraIdNames(names)),
  }
}

function operationOf(form: Form, op: (typeof ops)[number]): ProviderOperation {
  const operation = form.operations[op]
  return {
    ...operation,
    page: operation.paged ? form.page : undefined,
    only: [],
    also: undefined,
    assumes: [],
    refusesByLimits: false,
  }
}
