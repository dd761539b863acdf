/** Checks rules between keys of the configuration. */

import { hostname as machineName, networkInterfaces } from 'node:os'
import { signer } from '../adapters/crypto.ts'
import { type Asset, type AssetTable, fold, sameName } from '../domain/asset.ts'
import { overlaps, parseOpenPath } from '../domain/native.ts'
import { isLoopback } from '../domain/network-address.ts'
import { type OperatorToken, tokenRoles, tokenText } from '../domain/operator-role.ts'
import { weightsFaults } from '../domain/routing-settings.ts'
import { namesByCode } from '../domain/service.ts'
import { isAttention } from '../domain/status.ts'
import { isTag } from '../domain/swap.ts'
import { type ExtraIdNames, requestFieldNames, responseFieldNames } from '../wire/extra-ids.ts'
import { JsonObject, parseJson } from '../wire/json.ts'
import type { ProviderCredential } from '../wire/provider-credential.ts'
import { findProviderForm, type KnownForms, type ProviderForm } from '../wire/provider-form.ts'
import type { SettingKind } from '../wire/table.ts'
import type { Faults, KnownProvider, Parts } from './faults.ts'
import type { ProviderSettings, Settings } from './schema.ts'

const wildcardHosts: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export function tagOf(name: string, { tag }: Pick<ProviderSettings, 'tag'>): string {
  return tag === '' ? name : tag
}

/** Undefined if it is not known. */
function knownTag(name: string, provider: KnownProvider | undefined): string | undefined {
  return provider?.tag === undefined ? undefined : tagOf(name, { tag: provider.tag })
}

/** Checks what is known; a rule about a value that is not is skipped. */
export function checkParts(
  parts: Parts,
  table: AssetTable | undefined,
  { forms, providerForms }: KnownForms,
  faults: Faults,
): void {
  const { defaultForm } = parts
  if (defaultForm !== undefined && !forms.some(({ name }) => sameName(name, defaultForm)))
    faults.add(['defaultForm'], `must be one of ${forms.map(({ name }) => name).join(', ')}`)
  checkPorts(parts, faults)
  checkTokens(parts.admin?.tokens, faults)
  checkSharedLedger(parts, faults)
  for (const [name, provider] of Object.entries(parts.providers ?? {})) {
    if (!provider) continue
    const own = faults.under('providers', name)
    const { url, form: formName } = provider
    const tag = knownTag(name, provider)
    if (tag !== undefined && !isTag(tag)) own.add(['tag'], 'must be 1 to 16 of a-z and 0-9, and so must a name that has no tag')
    checkKey(provider, parts.auth?.mode, own)
    if (url !== undefined && [parts.server, parts.admin].some((listener) => listener && leadsBack(url, listener)))
      own.add(['url'], 'leads back to the gateway itself')
    if (formName === undefined) continue
    const form = findProviderForm(formName, providerForms)
    if (form) {
      checkCredential(provider, form, parts.auth?.mode, own)
      checkProviderAssets(provider, form, table, own)
      checkExtraIdNames(provider.extraIdNames, form, own)
      checkNativePaths(provider.native, form, own)
      checkSettings(provider, form, parts.auth?.mode, own)
      checkStatuses(provider, form, own)
      if (provider.amountTo && !form.withReceivedAmounts)
        own.add(['amountTo'], `is only for Forms A and B: the form ${form.name} knows by itself what its provider takes`)
      if (provider.actions && !form.withActions)
        own.add(['actions'], `is only for Forms A and B: the form ${form.name} knows by itself what its provider can do`)
      if (provider.forwardAddress === false && form.sendsAddress)
        own.add(['forwardAddress'], `must be true: the form ${form.name} sends the address of each client to the provider`)
    } else own.add(['form'], `must be one of ${providerForms.map((known) => known.name).join(', ')}`)
  }
  checkTags(parts, faults)
  checkRouting(parts, faults)
}

function checkPorts({ server, admin, sandbox }: Parts, faults: Faults): void {
  const ports = [
    { section: 'server', ...server },
    { section: 'admin', ...admin },
    ...(sandbox?.enabled ? [{ section: 'sandbox', host: '127.0.0.1', port: sandbox.port }] : []),
  ]
  for (const [at, { section, host, port }] of ports.entries()) {
    const holder = ports.slice(0, at).find((other) => other.port === port && overlap(other.host, host))
    if (port && holder) faults.add([section, 'port'], `is the port of ${holder.section}`)
  }
}

/** Which of them has sent it could not be told. */
function checkTokens(tokens: Readonly<Record<string, OperatorToken | undefined>> = {}, faults: Faults): void {
  const rolesByToken = new Map<string, string>()
  for (const [name, token] of Object.entries(tokens)) {
    if (token === undefined) continue
    const roles = tokenRoles(token).join()
    const others = rolesByToken.getOrInsert(tokenText(token), roles)
    if (others !== roles) faults.add(['admin', 'tokens', name], 'is the token of another name, with other roles')
  }
}

/** Each worker would have a ledger of its own, and one key would make a swap in each. */
function checkSharedLedger({ server, ledger }: Parts, faults: Faults): void {
  if (server?.workers === undefined || server.workers === 1 || ledger?.url !== 'sqlite::memory:') return
  faults.add(['ledger', 'url'], 'is in the memory of one process: with server.workers it must be a file or a PostgreSQL server')
}

function overlap(a: string | undefined, b: string | undefined): boolean {
  if (a === undefined || b === undefined) return false
  return a === b || wildcardHosts.has(a) || wildcardHosts.has(b)
}

function checkTags({ providers = {} }: Parts, faults: Faults): void {
  const taken = new Set<string>()
  for (const [name, provider] of Object.entries(providers)) {
    const tag = knownTag(name, provider)
    if (tag === undefined) continue
    if (taken.has(tag)) faults.add(['providers', name, 'tag'], 'is the tag of another provider')
    taken.add(tag)
  }
}

/** Settings that the form requires, unknown ones, and those of accounts. */
function checkSettings(
  { settings, accountSettings = {} }: KnownProvider,
  form: ProviderForm,
  mode: Mode | undefined,
  faults: Faults,
): void {
  const own = faults.under('settings')
  if (settings) {
    for (const name of form.settings) if (!settings[name]) own.add([name], `is needed for the form ${form.name}`)
    for (const [name, value] of Object.entries(settings)) checkSetting(name, value, form, own)
  }
  for (const [account, replaced = {}] of Object.entries(accountSettings)) {
    const ofAccount = faults.under('accountSettings', account)
    if (mode === 'passthrough') ofAccount.add([], 'has no effect in passthrough mode: only keys that you issue have accounts')
    for (const [name, value] of Object.entries(replaced)) {
      if (value === '' && form.settings.includes(name)) ofAccount.add([name], `is needed for the form ${form.name}`)
      else checkSetting(name, value, form, ofAccount)
    }
  }
}

const settingPatterns: { readonly [Kind in Exclude<SettingKind, 'object'>]: RegExp } = {
  text: /^[^\x00-\x1f\x7f]*$/,
  number: /^(?:(?:0|[1-9]\d{0,8})(?:\.\d{1,18})?)?$/,
}

function checkSetting(name: string, value: string | undefined, form: ProviderForm, faults: Faults): void {
  const kind = form.optionalSettings[name] ?? (form.settings.includes(name) ? 'text' : undefined)
  if (isReference(name, form)) faults.add([name], 'cannot be set: it is the reference of each create, its own')
  else if (kind === undefined) faults.add([name], `is not a setting of the form ${form.name}`)
  else if (value !== undefined && kind === 'object' && value !== '' && !isTexts(value))
    faults.add([name], 'must be a JSON object of texts, as text: \'{"channel":"app"}\'')
  else if (value !== undefined && kind !== 'object' && !settingPatterns[kind].test(value))
    faults.add([name], kind === 'number' ? 'must be a number from 0, like 0.5' : 'must be one line')
}

function isTexts(text: string): boolean {
  try {
    const value = parseJson(text)
    return value instanceof JsonObject && value.values.every((member) => typeof member === 'string')
  } catch {
    return false
  }
}

/** Whether the form sends the id of each create under this name (docs/contract-operators.md §10.2). */
function isReference(name: string, { operations }: ProviderForm): boolean {
  return operations.some(({ requestCodec }) => requestCodec.slots.some((slot) => slot.field === 'reference' && slot.name === name))
}

/** A word that is a status itself keeps its meaning (docs/contract.md §3.7). */
function checkStatuses({ statuses = {} }: KnownProvider, form: ProviderForm, faults: Faults): void {
  for (const [word, meaning] of Object.entries(statuses)) {
    const own = form.statuses.get(word)
    if (meaning !== undefined && own === word && meaning !== own && !isAttention(own))
      faults.add(['statuses', word], `cannot be changed: the form ${form.name} defines it`)
  }
}

// Checks the routing against the rest of the configuration (docs/contract-operators.md §12).

function checkRouting({ routing, providers, auth }: Parts, faults: Faults): void {
  if (!routing) return
  const own = faults.under('routing')
  const lacks = (name: string): boolean => providers !== undefined && !Object.hasOwn(providers, name)
  for (const [at, name] of (routing.providers ?? []).entries()) {
    if (lacks(name)) own.add(['providers', at], 'is not in providers')
    if (routing.providers?.indexOf(name) !== at) own.add(['providers', at], 'is given twice')
  }
  if (auth?.mode === 'passthrough' && (routing.providers?.length ?? 0) > 1) {
    own.add(['providers'], "must name exactly one provider in passthrough mode: a client's key goes to no other")
  }
  if (routing.mirror && lacks(routing.mirror.provider)) own.add(['mirror', 'provider'], 'is not in providers')
  if (routing.untagged && lacks(routing.untagged)) own.add(['untagged'], 'is not in providers')
  checkWeights(routing, own)
  const tags = providers && Object.entries(providers).map(([name, provider]) => knownTag(name, provider))
  for (const [at, tag] of (routing.pick ?? []).entries()) {
    if (tags && !tags.includes(undefined) && !tags.includes(tag)) own.add(['pick', at], 'is not the tag of a provider')
    if (routing.pick?.indexOf(tag) !== at) own.add(['pick', at], 'is given twice')
  }
}

function checkWeights({ strategy, weights, providers }: NonNullable<Parts['routing']>, faults: Faults): void {
  if (faults.hasWithin(['weights']) || !providers) return
  if (!weights) {
    if (strategy === 'weighted') faults.add(['weights'], 'is needed where routing.strategy is weighted')
    return
  }
  for (const fault of weightsFaults(weights, providers)) {
    if (fault.what === 'allZero') faults.add(['weights'], 'must not all be 0')
    else faults.add(['weights', fault.provider], fault.what === 'missing' ? 'is missing' : 'is not in routing.providers')
  }
}

// Detects a URL that leads back to this process: the gateway would call itself without end.

interface Listener {
  readonly host: string
  readonly port: number
}

const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/

function leadsBack(url: string, { host, port }: { readonly [Key in keyof Listener]?: Listener[Key] | undefined }): boolean {
  return host !== undefined && port !== undefined && isSelfLoop(url, { host, port })
}

/** Detects what the configuration shows. Other names of this machine are known only to its resolver. */
export function isSelfLoop(url: string, { host, port }: Listener): boolean {
  const { protocol, hostname, port: explicitPort } = new URL(url)
  const defaultPort = protocol === 'https:' ? 443 : 80
  if (Number(explicitPort || defaultPort) !== port) return false
  return addressesOf(hostname).some((address) => isListenedOn(address, host))
}

/** Addresses to which a connection to the host may lead. `URL` has already normalized every notation of an address. */
function addressesOf(host: string): readonly string[] {
  const name = host.toLowerCase().replace(/^\[(.*)\]$|\.$/g, '$1')
  const [, high, low] = mapped.exec(name) ?? []
  if (high !== undefined && low !== undefined) return [dotted(Number.parseInt(high, 16), Number.parseInt(low, 16))]
  if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1', '::1']
  if (name === '0.0.0.0') return ['127.0.0.1']
  return name === '::' ? ['::1'] : [name]
}

function isListenedOn(address: string, host: string): boolean {
  if (host === '0.0.0.0') return isOfThisMachine(address) && !address.includes(':')
  if (host === '::') return isOfThisMachine(address)
  return addressesOf(host).includes(address)
}

function isOfThisMachine(address: string): boolean {
  const own = Object.values(networkInterfaces()).flatMap((all = []) => all.map((one) => one.address))
  return isLoopback(address) || own.includes(address) || address === machineName().toLowerCase()
}

function dotted(high: number, low: number): string {
  return [high >> 8, high & 255, low >> 8, low & 255].join('.')
}

// Checks a provider's key: where it is sent, whether it is needed, and whether it can sign.

type Mode = Settings['auth']['mode']

/** Spaces at its ends would not arrive. */
const headerValue = /^(?! )[\x20-\x7e]+(?<! )$/

/** No fault has the key. */
function checkKey({ url, key, listKey, hook }: KnownProvider, mode: Mode | undefined, faults: Faults): void {
  if (mode === 'passthrough' && hook) faults.add(['hook'], 'needs auth.mode managed: the gateway has no key to read with')
  if (url !== undefined && (key || listKey) && isPlainHttp(url)) faults.add(['url'], 'must be https where a key is sent')
  if (mode === 'managed' && key === '') faults.add(['key'], 'is needed where auth.mode is managed')
}

function isPlainHttp(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && !isLoopback(hostname)
}

function checkCredential(
  { key, secret, listKey }: KnownProvider,
  { name, credential, keyed }: ProviderForm,
  mode: Mode | undefined,
  faults: Faults,
): void {
  if (mode === 'passthrough' && credential.isSignature)
    faults.add(['form'], `needs auth.mode managed: calls of the form ${name} are signed, and clients cannot send a signature`)
  else if (mode === 'passthrough' && key === '' && keyed.has('getRate'))
    faults.add(['key'], `is needed: quotes of the form ${name} need one of the gateway's own`)
  for (const [name, word] of Object.entries({ key, listKey })) {
    if (credential.sendsKey && word && !headerValue.test(word))
      faults.add([name], 'must be one line of visible characters of ASCII: no header can carry another')
    if (!credential.sendsKey && word && !canSign(credential, word))
      faults.add([name], 'must be a private RSA key: in PEM, or PKCS #8 in base64 or in hexadecimal digits')
  }
  if (credential.needsSecret && secret === '') faults.add(['secret'], `is needed for the form ${name}`)
  if (!credential.needsSecret && secret) faults.add(['secret'], `has no effect: the form ${name} signs nothing with a secret`)
}

function canSign(credential: ProviderCredential, key: string): boolean {
  try {
    credential.encode({ key, secret: '' }, { method: 'POST', path: '', query: '', body: '' }, signer)
    return true
  } catch {
    return false
  }
}

// Checks a provider's own field names for memos and tags against the field names of its form (docs/contract.md §3.5).

const keyOf: Readonly<Record<string, keyof ExtraIdNames>> = {
  depositExtraId: 'deposit',
  withdrawalExtraId: 'withdrawal',
  refundExtraId: 'refund',
}

/** Adds a fault if two fields of one body have the same name: one of them would be lost. */
function checkExtraIdNames(names: ExtraIdNames | undefined, { operations }: ProviderForm, faults: Faults): void {
  if (!names) return
  const creates = operations.filter(({ op }) => op === 'createTransaction')
  const transactions = operations.filter(({ op }) => op.endsWith('Transaction') || op === 'listTransactions')
  const requestNames = requestFieldNames(names)
  const responseNames = responseFieldNames(names)
  const repeated = new Set([
    ...creates.flatMap(({ requestCodec }) => repeatedFields(requestCodec.slots, requestNames)),
    ...transactions.flatMap(({ responseCodec }) => repeatedFields(responseCodec.slots, responseNames)),
  ])
  for (const field of repeated) {
    faults.add(['extraIdNames', keyOf[field] ?? field], 'is already the name of another field')
  }
}

interface Slot {
  readonly field: string
  /** With the names of the objects around it, if there are any. */
  readonly name: string
}

/** Fields whose own name is also the name of another field of the same object. */
function repeatedFields(slots: readonly Slot[], own: ReturnType<typeof requestFieldNames>): readonly string[] {
  const renamed = slots.map(({ field, name }) => ({ field, name: beside(name, own[field]) }))
  return renamed
    .filter(({ field, name }) => own[field] !== undefined && renamed.some((other) => other.field !== field && other.name === name))
    .map(({ field }) => field)
}

/** `name`, or this word in the same object. */
function beside(name: string, word: string | undefined): string {
  return word === undefined ? name : name.slice(0, name.lastIndexOf('.') + 1) + word
}

// Checks the paths of a provider's native lane against the operations of its form (docs/contract.md §11).

/** An entry must not match an operation: the native lane does not apply the rules of operations. */
function checkNativePaths(
  entries: readonly string[] = [],
  { operations, actions, credential }: ProviderForm,
  faults: Faults,
): void {
  if (entries.length > 0 && credential.isSignature) faults.add(['native'], 'is not possible with a form that signs each call')
  for (const [at, entry] of entries.entries()) {
    const openPath = parseOpenPath(entry)
    if (!openPath) faults.add(['native', at], 'must be a method and a path, like GET /coins/{}/networks')
    else if ([...operations, ...actions.values()].some(({ method, path }) => overlaps(openPath, method, path.pattern)))
      faults.add(['native', at], 'overlaps an operation of the form')
    else if (entries.indexOf(entry) !== at) faults.add(['native', at], 'is given twice')
  }
}

// Checks a provider's own asset names: each names one asset of the table (docs/contract.md §3, docs/contract-operators.md §9).

type ProviderAsset = ProviderSettings['assets'][string] | undefined

function checkProviderAssets(
  { assets = {} }: KnownProvider,
  form: ProviderForm,
  table: AssetTable | undefined,
  faults: Faults,
): void {
  const byCode = namesByCode(form.capabilities)
  // Two names of one asset are one code.
  const codeOf = (code: string): string => fold(table?.byCode(code)?.code ?? code)
  const codes = Object.keys(assets).map(codeOf)
  const renamed = Object.entries(assets).filter(([, providerAsset]) => providerAsset == null || isNamed(providerAsset))
  const taken = tableKeys(
    renamed.map(([code]) => codeOf(code)),
    table,
    byCode,
  )
  for (const [at, [code, providerAsset]] of Object.entries(assets).entries()) {
    if (table && !table.byCode(code)) faults.add(['assets', code], 'is not a code of the asset table')
    if (codes.indexOf(codeOf(code)) !== at) faults.add(['assets', code], 'is given twice')
    if (!isNamed(providerAsset)) continue
    if (byCode !== 'code' in providerAsset) faults.add(['assets', code], byCode ? 'must be one word' : 'must be { coin, network }')
    const key = toKey(providerAsset)
    if (taken.has(key)) faults.add(['assets', code], 'is already the name of another code')
    taken.add(key)
  }
}

/** The names at the provider of assets without a configured name. An alias of a network means that network. */
function tableKeys(own: readonly string[], table: AssetTable | undefined, byCode: boolean): Set<string> {
  const assets = (table?.coins ?? []).flatMap((coin) => coin.assets).filter(({ code }) => !own.includes(fold(code)))
  const defaultNames = ({ code, coin, network, aliases }: Asset): readonly NamedAsset[] =>
    byCode ? [{ code }] : [network, ...aliases].map((name) => ({ coin, network: name }))
  return new Set(assets.flatMap(defaultNames).map(toKey))
}

type NamedAsset = { readonly code: string } | { readonly coin: string; readonly network: string }

/** Whether it has a name, and not only a contract. */
function isNamed(providerAsset: ProviderAsset): providerAsset is NamedAsset {
  return providerAsset != null && ('code' in providerAsset || 'coin' in providerAsset)
}

function toKey(providerAsset: NamedAsset): string {
  return JSON.stringify(
    'code' in providerAsset ? [fold(providerAsset.code)] : [fold(providerAsset.coin), fold(providerAsset.network)],
  )
}
