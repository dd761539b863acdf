/** Checks rules between keys of the configuration. */

import { type AssetTable, sameName } from '../../domain/asset.ts'
import { isAttention } from '../../domain/status.ts'
import { isTag } from '../../domain/swap.ts'
import type { ProviderForm } from '../../wire/provider-form.ts'
import { findProviderForm, type KnownForms } from '../../wire/provider-form.ts'
import { checkCredential, checkKey } from '../credential.ts'
import { checkExtraIdNames } from '../extra-id-names.ts'
import type { Faults } from '../faults.ts'
import { checkNativePaths } from '../native-paths.ts'
import { checkProviderAssets } from '../provider-assets.ts'
import type { ProviderSettings } from '../schema.ts'
import type { Parts } from '../validation.ts'
import { checkRouting } from './routing.ts'
import { isSelfLoop } from './self-loop.ts'

const wildcardHosts: ReadonlySet<string> = new Set(['0.0.0.0', '::'])

export function tagOf(name: string, { tag }: ProviderSettings): string {
  return tag === '' ? name : tag
}

/** Checks the valid parts; parts with faults of their own are skipped. */
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
  for (const [name, provider] of Object.entries(parts.providers)) {
    if (!provider) continue
    const own = faults.under('providers', name)
    if (!isTag(tagOf(name, provider))) own.add(['tag'], 'must be 1 to 16 of a-z and 0-9, and so must a name that has no tag')
    checkKey(provider, parts.auth?.mode, own)
    if ([parts.server, parts.admin].some((listener) => listener && isSelfLoop(provider.url, listener)))
      own.add(['url'], 'leads back to the gateway itself')
    const form = findProviderForm(provider.form, providerForms)
    if (form) {
      checkCredential(provider, form, parts.auth?.mode, own)
      checkProviderAssets(provider, form, table, own)
      checkExtraIdNames(provider.extraIdNames, form, own)
      checkNativePaths(provider.native, form, own)
      checkSettings(provider, form, own)
      checkStatuses(provider, form, own)
      if (!provider.forwardAddress && form.sendsAddress)
        own.add(['forwardAddress'], `must be true: the form ${form.name} sends the address of each client to the provider`)
    } else own.add(['form'], `must be one of ${providerForms.map((known) => known.name).join(', ')}`)
  }
  checkTags(parts, faults)
  const tags = Object.entries(parts.providers).map(([name, provider]) => (provider ? tagOf(name, provider) : name))
  checkRouting(parts, new Set(tags), faults)
}

function checkPorts({ server, admin, sandbox }: Parts, faults: Faults): void {
  const ports = [
    { section: 'server', ...server },
    { section: 'admin', ...admin },
    ...(sandbox?.enabled ? [{ section: 'sandbox', host: '127.0.0.1', port: sandbox.port }] : []),
  ]
  for (const [at, { section, host = '', port }] of ports.entries()) {
    const holder = ports.slice(0, at).find((other) => other.port === port && overlap(other.host ?? '', host))
    if (port && holder) faults.add([section, 'port'], `is the port of ${holder.section}`)
  }
}

function overlap(a: string, b: string): boolean {
  return a === b || wildcardHosts.has(a) || wildcardHosts.has(b)
}

function checkTags({ providers }: Parts, faults: Faults): void {
  const taken = new Set<string>()
  for (const [name, provider] of Object.entries(providers)) {
    if (!provider) continue
    const tag = tagOf(name, provider)
    if (taken.has(tag)) faults.add(['providers', name, 'tag'], 'is the tag of another provider')
    taken.add(tag)
  }
}

/** Settings that the form requires, and unknown ones. */
function checkSettings({ settings }: ProviderSettings, form: ProviderForm, faults: Faults): void {
  for (const name of form.settings) if (!settings[name]) faults.add(['settings', name], `is needed for the form ${form.name}`)
  for (const name of Object.keys(settings)) {
    if (isReference(name, form)) faults.add(['settings', name], 'cannot be set: it is the reference of each create, its own')
    else if (!form.settings.includes(name)) faults.add(['settings', name], `is not a setting of the form ${form.name}`)
  }
}

/** Whether the form sends the id of each create under this name (docs/contract.md §10.2). */
function isReference(name: string, { operations }: ProviderForm): boolean {
  return operations.some(({ requestCodec }) => requestCodec.slots.some((slot) => slot.field === 'reference' && slot.name === name))
}

/** A word that is a status itself keeps its meaning (docs/contract.md §3.7). */
function checkStatuses({ statuses }: ProviderSettings, form: ProviderForm, faults: Faults): void {
  for (const [word, meaning] of Object.entries(statuses)) {
    const own = form.statuses.get(word)
    if (own === word && meaning !== own && !isAttention(own))
      faults.add(['statuses', word], `cannot be changed: the form ${form.name} defines it`)
  }
}
