/** What one key of the configuration demands of another. */
import type { AssetTable } from '../domain/asset.ts'
import { namesByCode } from '../domain/vocabulary.ts'
import type { Form } from '../wire/form.ts'
import type { ConfigFault } from './document.ts'
import type { ProviderSettings, Settings } from './schema.ts'

type Fail = (path: string, message: string) => void

const tagPattern = /^[a-z0-9]{1,16}$/
const loopback = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])$/

export function tagOf(name: string, { tag }: ProviderSettings): string {
  return tag === '' ? name : tag
}

/** Adds every fault to `faults`. */
export function checkSettings(
  settings: Settings,
  table: AssetTable | undefined,
  forms: readonly Form[],
  faults: ConfigFault[],
): void {
  const fail: Fail = (path, message) => faults.push({ path, message })
  const formNames = forms.map(({ name }) => name)
  if (!formNames.includes(settings.defaultForm)) fail('defaultForm', `must be one of ${formNames.join(', ')}`)
  for (const [name, provider] of Object.entries(settings.providers)) checkProvider(name, provider, table, forms, fail)
  checkTags(settings, fail)
  checkRouting(settings, fail)
  refuseUnsupported(settings, fail)
}

function checkProvider(
  name: string,
  provider: ProviderSettings,
  table: AssetTable | undefined,
  forms: readonly Form[],
  fail: Fail,
): void {
  const path = `providers.${name}`
  if (!tagPattern.test(tagOf(name, provider)))
    fail(`${path}.tag`, 'must be 1 to 16 of a-z and 0-9, and so must a name that has no tag')
  const form = forms.find((candidate) => candidate.name === provider.form)
  if (!form) fail(`${path}.form`, `must be one of ${forms.map((known) => known.name).join(', ')}`)
  checkUrl(`${path}.url`, provider, fail)
  for (const [code, words] of Object.entries(provider.assets)) {
    const isKnown = table === undefined || table.byCode(code) !== undefined
    if (!isKnown) fail(`${path}.assets.${code}`, 'is not a code of the asset table')
    if (!words || !form) continue
    const wantsCode = namesByCode(form.vocabulary)
    if (wantsCode !== 'code' in words) fail(`${path}.assets.${code}`, wantsCode ? 'must be one word' : 'must be { coin, network }')
  }
}

function checkUrl(path: string, { url, key }: ProviderSettings, fail: Fail): void {
  const parsed = URL.parse(url)
  if (!parsed || !/^https?:$/.test(parsed.protocol)) return fail(path, 'must be an http or https URL')
  if (parsed.username !== '' || parsed.password !== '') fail(path, 'must not hold credentials')
  if (parsed.search !== '' || parsed.hash !== '') fail(path, 'must not have a query or a fragment')
  if (parsed.protocol === 'http:' && key !== '' && !loopback.test(parsed.hostname)) fail(path, 'must be https where a key is sent')
}

function checkTags({ providers }: Settings, fail: Fail): void {
  const tags = Object.entries(providers).map(([name, provider]) => [name, tagOf(name, provider)] as const)
  for (const [at, [name, tag]] of tags.entries()) {
    const isTaken = tags.slice(0, at).some(([, other]) => other === tag)
    if (isTaken) fail(`providers.${name}.tag`, 'is the tag of another provider')
  }
}

function checkRouting({ routing, providers, auth }: Settings, fail: Fail): void {
  const exists = (name: string): boolean => Object.hasOwn(providers, name)
  for (const [at, name] of routing.providers.entries()) {
    if (!exists(name)) fail(`routing.providers.${at}`, `${name} is not in providers`)
    if (routing.providers.indexOf(name) !== at) fail(`routing.providers.${at}`, `${name} is given twice`)
  }
  if (auth.mode === 'passthrough' && routing.providers.length > 1) {
    fail('routing.providers', "must name exactly one provider in passthrough mode: a client's key goes to no other")
  }
  if (routing.untagged !== '' && !exists(routing.untagged)) fail('routing.untagged', `${routing.untagged} is not in providers`)
}

/** Never accepted and ignored. */
function refuseUnsupported({ auth, redis, ledger, routing, providers }: Settings, fail: Fail): void {
  const later = (isAsked: boolean, path: string, what: string): void => {
    if (isAsked) fail(path, `${what} is not yet supported`)
  }
  later(auth.mode === 'managed', 'auth.mode', 'managed')
  later(redis.url !== '', 'redis.url', 'Redis')
  later(!ledger.url.startsWith('sqlite:'), 'ledger.url', 'a ledger outside SQLite')
  later(routing.strategy !== 'priority', 'routing.strategy', routing.strategy)
  later(routing.weights !== undefined, 'routing.weights', 'weights')
  later(routing.shadow !== undefined, 'routing.shadow', 'shadow')
  for (const [name, { native, state }] of Object.entries(providers)) {
    later(native, `providers.${name}.native`, 'the native lane')
    later(state !== 'active', `providers.${name}.state`, state)
  }
}
