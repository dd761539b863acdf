/** The five questions of `swapgate init`, and what their answers must be. */
import { accessSync, constants } from 'node:fs'
import { resolve } from 'node:path'
import { hasVariable } from '../../config/index.ts'
import { providerForms } from '../../forms/index.ts'
import type { ProviderForm } from '../../wire/provider-form.ts'
import { findProviderForm } from '../../wire/provider-form.ts'
import { type Ask, InvalidAnswer } from './ask.ts'

/** Given as options: for these there is no prompt. */
export interface InitFlags {
  readonly form?: string
  readonly url?: string
  readonly key?: string
  readonly mode?: string
  readonly port?: string
  readonly setting?: Readonly<Record<string, string>>
  readonly forwardAddress?: true
}

export interface Answers {
  readonly form: string
  readonly url: string
  readonly mode: 'managed' | 'passthrough'
  /** A reference, never the key; empty: none. */
  readonly key: string
  readonly port: number
  readonly settings: Readonly<Record<string, string>>
  readonly forwardsAddress: boolean
}

const adminPort = 9_090
const variable = /^[A-Z_][A-Z0-9_]{0,63}$/

export async function askAll(flags: InitFlags, ask: Ask): Promise<Answers> {
  const form = await ask({
    flag: '--form',
    given: flags.form,
    question: `Form of the provider's API: ${formNames()}`,
    parse: toForm,
  })
  const url = await ask({
    flag: '--url',
    given: flags.url,
    question: 'Its base URL, like https://provider.example/api/v2',
    parse: toUrl,
  })
  const mode = await ask({
    flag: '--mode',
    given: flags.mode,
    question: 'Keys of your clients: managed (you issue them) or passthrough (their own keys at the provider)',
    preset: 'managed',
    parse: (text) => toMode(text, form),
  })
  const needsKey = mode === 'managed' || form.keyed.has('getRate')
  const key = await ask({
    flag: '--key',
    given: flags.key,
    question: 'Where your key at the provider is: the name of an environment variable, or the path of a file. Not the key itself',
    ...(!needsKey && { preset: 'none' }),
    parse: (text) => (text === 'none' && !needsKey ? '' : toReference(text)),
  })
  const port = await ask({ flag: '--port', given: flags.port, question: 'Port of the gateway', preset: '8080', parse: toPort })
  const settings: Record<string, string> = { ...flags.setting }
  for (const name of form.settings)
    settings[name] = await ask({
      flag: `--setting ${name}=…`,
      given: flags.setting?.[name],
      question: `${name}, which a provider of this form needs`,
      parse: toText,
    })
  if (form.sendsAddress)
    await ask({
      flag: '--forward-address',
      given: flags.forwardAddress && 'yes',
      question: 'Whether the provider may get the address of each client, without which it serves none: yes',
      parse: toConsent,
    })
  return { form: form.name, url, mode, key, port, settings, forwardsAddress: form.sendsAddress }
}

function formNames(): string {
  return providerForms.map(({ name }) => name).join(', ')
}

function toForm(text: string): ProviderForm {
  return findProviderForm(text, providerForms) ?? fail(`it must be one of ${formNames()}`)
}

function toUrl(text: string): string {
  return /^https?:$/.test(URL.parse(text)?.protocol ?? '') ? text : fail('it must be an http or https URL')
}

/** Clients cannot send a signature. */
function toMode(text: string, { name, credential }: ProviderForm): Answers['mode'] {
  if (text === 'passthrough' && credential.isSignature) return fail(`it must be managed: calls of the form ${name} are signed`)
  return text === 'managed' || text === 'passthrough' ? text : fail('it must be managed or passthrough')
}

function toPort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN
  if (!(port <= 65_535)) fail('it must be an integer from 0 to 65535')
  return port === adminPort ? fail(`${adminPort} is the admin port`) : port
}

function toConsent(text: string): true {
  return text === 'yes' || fail('it must be yes: this form sends the address of each client')
}

function toText(text: string): string {
  return text === '' ? fail('it must not be empty') : text
}

/** What is neither a variable that is set nor a file that can be read may be the key itself. */
function toReference(text: string): string {
  if (variable.test(text) && hasVariable(text)) return `\${${text}}`
  const file = resolve(text)
  try {
    if (text === '' || file.includes('}')) throw new Error('no file')
    accessSync(file, constants.R_OK)
    return `\${file:${file}}`
  } catch {
    return fail('it must be the name of an environment variable that is set, or of a file that can be read')
  }
}

function fail(message: string): never {
  throw new InvalidAnswer(message)
}
