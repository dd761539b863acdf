/** A provider's form: its tables and properties. It only encodes requests and decodes responses: clients do not use it. */
import { type Capabilities, forEachOp, keyed, type Op, type Operations, ops, type Row } from '../domain/service.ts'
import type { RateType } from '../domain/swap.ts'
import { type SwapAction, swapActions } from '../domain/swap-action.ts'
import { type ExtraIdNames, renameExtraIds } from './extra-ids.ts'
import type { Covers, Form } from './form.ts'
import { type ProviderCredential, plainKey } from './provider-credential.ts'
import {
  type ActionTables,
  type AmountSide,
  type AssetWords,
  compileAction,
  compileOperation,
  mapTables,
  type NetworkWords,
  type ProviderAction,
  type ProviderFormTables,
  type ProviderOperation,
  type ProviderTables,
  variantsOf,
} from './provider-operation.ts'
import type { RefusalTable } from './refusal.ts'
import {
  extension,
  fieldsOf,
  optional,
  type RequestTree,
  type ResponseTree,
  type Setting,
  type SettingKind,
  type StatusMeaning,
} from './table.ts'

export interface ProviderForm {
  readonly name: string
  readonly credential: ProviderCredential
  readonly capabilities: Capabilities
  readonly refusal: RefusalTable
  readonly keyed: ReadonlySet<Op>
  readonly quotedFirst: ReadonlySet<RateType>
  /** Whether a quote has an id only if the request asks for one. */
  readonly asksForQuoteId: boolean
  /** The meaning of its statuses. */
  readonly statuses: ReadonlyMap<string, StatusMeaning>
  readonly networks: NetworkWords
  readonly assets: Readonly<Record<string, AssetWords>>
  readonly depositMemo: readonly string[]
  readonly flagsDepositMemos: boolean
  /** Whether what follows the first dot of its ids is a secret by which money moves. */
  readonly hasSecretIds: boolean
  /** Its page of a transaction for people, with `{id}`, where its responses name none. */
  readonly orderPage: string | undefined
  /** Settings that it requires: `providers.<name>.settings`. */
  readonly settings: readonly string[]
  /** Settings that it may have, and how each is written. */
  readonly optionalSettings: Readonly<Record<string, SettingKind>>
  /** Whether a call carries the address of the gateway's client. */
  readonly sendsAddress: boolean
  /** Undefined: the provider has no such operation. `side`: by which amount; default: that which is sent. */
  readonly operation: (op: Op, rateType?: RateType, side?: AmountSide) => ProviderOperation | undefined
  /** Every operation in every variant. */
  readonly operations: readonly ProviderOperation[]
  /** What it can do about a swap. */
  readonly actions: ReadonlyMap<SwapAction, ProviderAction>
  /** The same form of a provider that has other names for memos and tags. */
  readonly withExtraIdNames: (names: ExtraIdNames) => ProviderForm
  /** The same form of a provider that takes the amount that is to be received; absent where the tables say it. */
  readonly withReceivedAmounts?: () => ProviderForm
  /** The same form of a provider that has the actions on swaps; absent where the tables say it. */
  readonly withActions?: () => ProviderForm
}

type RequestOf<O extends Op> = Operations[O]['request']
/** Beside the fields of the request: the number of rows before the page. */
type RequestedField<O extends Op> = (keyof RequestOf<O> & string) | 'offset'

/** All operations but quotes and creates are also called without a client. */
type AddressRule<O extends Op> = O extends 'getRate' | 'createTransaction' ? unknown : { readonly addressHeader?: never }

/** The tables of one operation. Does not compile if a field that the domain always has is neither decoded nor assumed. */
export function providerOperation<O extends Op>() {
  return <
    const A extends RequestTree<RequestedField<O>>,
    const R extends ResponseTree<(keyof Row<O> & string) | 'deduction'>,
    const F extends keyof Row<O> & string = never,
  >(
    tables: Omit<ProviderTables, 'request' | 'response' | 'assumes' | 'keeps'> & {
      readonly request: A
      readonly response: R & Covers<Omit<Row<O>, F>, R>
      readonly assumes?: readonly F[]
      readonly keeps?: readonly RequestedField<O>[]
    } & AddressRule<O>,
  ): ProviderTables => tables
}

/** Whether a call of the operation carries the address of the gateway's client. */
export function carriesAddress(form: ProviderForm, op: Op, rateType?: RateType, side?: AmountSide): boolean {
  const own = form.operation(op, rateType, side)
  if (own?.addressHeader !== undefined || own?.also?.addressHeader !== undefined) return true
  return isQuotedFirst(form, op, rateType) && carriesAddress(form, 'getRate', rateType, side)
}

/** Whether a quote may have an id, with which a create can be made. */
export function hasQuoteIds({ operation }: ProviderForm, rateType: RateType, side?: AmountSide): boolean {
  const takesId =
    operation('createTransaction', rateType, side)?.requestCodec.slots.some(({ field }) => field === 'quoteId') ?? false
  return takesId && (operation('getRate', rateType, side)?.responseNames.has('quoteId') ?? false)
}

/** The calls over HTTP that an operation takes, each by the operation that it belongs to. `hasQuote`: the create has the id of one. */
export function callsOf(form: ProviderForm, op: Op, rateType?: RateType, side?: AmountSide, hasQuote = false): readonly Op[] {
  const own = form.operation(op, rateType, side)?.also ? [op, op] : [op]
  return !hasQuote && isQuotedFirst(form, op, rateType) ? [...callsOf(form, 'getRate', rateType, side), ...own] : own
}

function isQuotedFirst({ quotedFirst }: ProviderForm, op: Op, rateType?: RateType): boolean {
  return op === 'createTransaction' && rateType !== undefined && quotedFirst.has(rateType)
}

/** Compiles a form's tables, once, at start. Example, from nothing: `docs/forms.md`. */
export function defineProviderForm(tables: ProviderFormTables): ProviderForm {
  const keyedOps = new Set(tables.keyed ?? keyed)
  const statuses = new Map(Object.entries(tables.statuses))
  const { orderPage, awaitingOwner } = tables
  const words = {
    meanings: statuses,
    reasons: new Map(Object.entries(tables.statusReasons ?? {})),
    awaitingOwner: awaitingOwner && new Set(awaitingOwner),
    orderPage,
  }
  const compiled = forEachOp((op) =>
    variantsOf(tables.operations[op]).map(({ rateType, side, tables: own }) => {
      const implied = rateType === undefined ? [] : ['rateType', ...quoteFields(own, rateType, side, tables)]
      return { rateType, side, operation: compileOperation(op, own, keyedOps.has(op), words, implied) }
    }),
  )
  const actions = swapActions.flatMap((action) => {
    const own = tables.actions?.[action]
    return own ? [compileAction(action, own)] : []
  })
  const every = ops.flatMap((op) => variantsOf(tables.operations[op]).map(({ tables: own }) => own))
  const settings = settingsOf(every.flatMap(({ request, also }) => (also ? [request, also.request] : [request])))
  return {
    name: tables.name,
    credential: tables.credential,
    refusal: tables.refusal,
    keyed: keyedOps,
    quotedFirst: new Set(tables.quotedFirst),
    asksForQuoteId: false,
    statuses,
    networks: tables.networks ?? {},
    assets: tables.assets ?? {},
    depositMemo: tables.depositMemo ?? [],
    flagsDepositMemos: tables.flagsDepositMemos ?? false,
    hasSecretIds: tables.hasSecretIds ?? false,
    orderPage,
    actions: new Map(actions.map((action) => [action.action, action])),
    settings: settings.flatMap(({ setting, optional }) => (optional ? [] : [setting])),
    optionalSettings: Object.fromEntries(settings.flatMap(({ setting, optional }) => (optional ? [[setting, optional]] : []))),
    sendsAddress: every.some(({ addressHeader, also }) => (addressHeader ?? also?.addressHeader) !== undefined),
    capabilities: capabilitiesOf(tables),
    operation: (op, rateType, side = 'sent') =>
      compiled[op].find(
        (variant) => variant.side === side && (rateType === undefined || (variant.rateType ?? rateType) === rateType),
      )?.operation,
    operations: ops.flatMap((op) => compiled[op].map(({ operation }) => operation)),
    withExtraIdNames: (names) => defineProviderForm({ ...tables, operations: renameAll(tables.operations, names) }),
  }
}

/** Fields of a create that the id of its quote replaces. */
function quoteFields(
  { isImpliedByQuote }: ProviderTables,
  rateType: RateType,
  side: AmountSide,
  { operations }: ProviderFormTables,
): readonly string[] {
  if (!isImpliedByQuote) return []
  const quotes = variantsOf(operations.getRate).filter(
    (variant) => variant.side === side && (variant.rateType ?? rateType) === rateType,
  )
  return quotes.flatMap(({ tables }) => [...fieldsOf(tables.request)])
}

function capabilitiesOf({ operations, newestFirst, hasExpectedAmount, pageSize = 100 }: ProviderFormTables): Capabilities {
  const fieldsIn = (op: Op, treesOf: (tables: ProviderTables) => readonly (RequestTree | ResponseTree)[]): ReadonlySet<string> =>
    new Set(variantsOf(operations[op]).flatMap(({ tables }) => treesOf(tables).flatMap((tree) => [...fieldsOf(tree)])))
  return {
    newestFirst,
    hasExpectedAmount,
    pageSize,
    requestFields: forEachOp((op) => fieldsIn(op, ({ request }) => [request])),
    responseFields: forEachOp((op) => fieldsIn(op, ({ response, also }) => (also ? [response, also.response] : [response]))),
  }
}

function renameAll(operations: ProviderFormTables['operations'], names: ExtraIdNames): ProviderFormTables['operations'] {
  return forEachOp((op) => {
    const own = operations[op]
    return own && mapTables(own, (tables) => renameExtraIds(tables, names))
  })
}

/** The settings in the tables, at any depth, each once: one that a line requires is required. */
function settingsOf(trees: readonly RequestTree[]): readonly Setting[] {
  const lines = trees.flatMap((tree) =>
    Object.values(tree).flatMap((line): readonly Setting[] => {
      if (typeof line === 'string') return []
      if ('setting' in line) return [line]
      return 'inside' in line ? settingsOf([line.inside]) : []
    }),
  )
  const required = lines.filter(({ optional }) => !optional)
  return [...new Map([...lines, ...required].map((line) => [line.setting, line])).values()]
}

// Makes a provider's form of a client's form: the service uses one form for both.

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
  return serviceFormOf(form, false, false)
}

/** What the interface leaves open: whether this service takes the amount that is to be received, and has the actions on swaps. */
function serviceFormOf(form: Form, takesReceived: boolean, hasActions: boolean): ProviderForm {
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
      amountRange: { min: limit('minAmount'), max: limit('maxAmount'), areBoth: true },
      mayHideAmountRange: true,
      ...(statusIn200 !== undefined && { statusIn200 }),
    },
    keyed: new Set(ops.filter((op) => form.operations[op].keyed)),
    quotedFirst: new Set(),
    asksForQuoteId: capabilities.requestFields.getRate.has('isFirm'),
    statuses: new Map(form.statuses.map((status) => [status, status])),
    networks: {},
    assets: {},
    depositMemo: [],
    flagsDepositMemos: false,
    hasSecretIds: false,
    orderPage: undefined,
    actions: hasActions ? serviceActions : new Map(),
    settings: [],
    optionalSettings: {},
    sendsAddress: false,
    operation: (op, _, side = 'sent') => (side === 'sent' || takesReceived ? operations.get(op) : undefined),
    operations: [...operations.values()],
    withExtraIdNames: (names) => serviceFormOf(form.withExtraIdNames(names), takesReceived, hasActions),
    withReceivedAmounts: () => serviceFormOf(form, true, hasActions),
    withActions: () => serviceFormOf(form, takesReceived, true),
  }
}

const refund = { id: 'id', address: optional('refundAddress'), extraId: extension('refundExtraId') } as const

/** In either form, for a swap that is held. */
const serviceActions: ReadonlyMap<SwapAction, ProviderAction> = new Map(
  Object.entries({
    refundTransaction: { at: 'POST /transactions/{id}/refund', request: refund, offeredIn: ['held'] },
    continueTransaction: { at: 'POST /transactions/{id}/continue', request: { id: 'id' }, offeredIn: ['held'] },
    setRefundAddress: { at: 'POST /transactions/{id}/refund-address', request: refund, offeredIn: ['held'] },
  } satisfies Record<SwapAction, ActionTables>).map(([action, tables]) => [
    action as SwapAction,
    compileAction(action as SwapAction, tables as ActionTables),
  ]),
)

function operationOf(form: Form, op: (typeof ops)[number]): ProviderOperation {
  const operation = form.operations[op]
  return {
    ...operation,
    page: operation.paged ? form.page : undefined,
    only: [],
    also: undefined,
    assumes: [],
    refusesByAmountRange: false,
  }
}
