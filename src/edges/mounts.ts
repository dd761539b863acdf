/**
 * Selects the form of a request (docs/contract.md §2). Routers of express in place of this and of the paths in `serve.ts` take 2.8 µs more for a
 * get, of 13 µs for an empty handler; and bytes that are not HTTP never reach express, while their path chooses the form of the error too.
 */
import { Fault } from '../domain/fault.ts'
import type { Form } from '../wire/form.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import type { StaticPage } from '../wire/static-page.ts'
import type { ServeHooks } from './provider-hooks.ts'
import type { FormHandler } from './serve.ts'
import type { StaticPages } from './static-page.ts'

/** A request below `/native`. */
export interface NativeMount {
  /** The form of the key's header, for errors. */
  readonly form: Form
  /** Below `/native`. */
  readonly path: string
  readonly credentialConflict: Fault | undefined
  readonly isKeyMalformed: boolean
}

export type ServeNative = (request: HttpRequest, mount: NativeMount) => Promise<HttpResponse>

const base = '/api/v2'
const formHeader = 'x-swap-form'
const nativeMount = '/native'
const hooksMount = '/hooks'

/** One handler for all forms, each at its own mount and at the bare one (`/api/v2`), for the static pages, for the native lane, and for webhooks of providers. */
export function mounts(
  served: ReadonlyMap<Form, FormHandler>,
  defaultForm: Form,
  pages: StaticPages = new Map(),
  native?: ServeNative,
  hooks?: ServeHooks,
): Http {
  const forms = [...served.keys()]
  const mounted = forms.map((form) => {
    const mount = mountOf(form)
    return { form, mount, base: mount + base }
  })
  const byKey = forms.filter(({ isChosenByKey }) => isChosenByKey)
  const vary = ['X-Swap-Form', ...byKey.map(({ credential }) => credential.name)].join(', ')
  const keyHeaders = forms.map(({ credential }) => credential)
  const credentials = [...new Set(keyHeaders.map(({ header }) => header))]
  const findFormConflict = formConflictFinder(forms, credentials)
  return (request) => {
    if (native && isUnder(nativeMount, request.path)) {
      const mount = mountNative(request, byKey, defaultForm)
      return native(request, { ...mount, credentialConflict: findCredentialConflict(request, credentials) })
    }
    if (hooks && isUnder(hooksMount, request.path)) return hooks(request, defaultForm)
    const at = mounted.find(({ mount }) => isUnder(mount, request.path))
    const pathInMount = at ? request.path.slice(at.mount.length) : request.path
    const isBased = isUnder(base, pathInMount)
    const isBare = !at && isBased
    const form = at?.form ?? (isBare ? chosenForm(request, forms, defaultForm) : defaultForm)
    const handle = served.get(form) as FormHandler
    const path = isBased ? pathInMount.slice(base.length) : ''
    const mount = at ? at.base : base
    const page = isBased ? undefined : pageAt(request, pages)
    const isKeyMalformed = isBare && form.isChosenByKey && hasMalformedKey(request, byKey)
    const formConflict = findFormConflict(request, at?.form)
    const otherKeyHeader = keyHeaders.find(
      ({ header }) => header !== form.credential.header && request.headers[header] !== undefined,
    )?.name
    return handle(request, { mount, path, formConflict, isKeyMalformed, otherKeyHeader, vary: isBare ? vary : undefined, page })
  }
}

/** The base paths of the forms, each at its own mount, and the one that chooses the form for each request. */
export function basePathsOf(forms: readonly Form[]): readonly string[] {
  return [...forms.map((form) => mountOf(form) + base), base]
}

function mountOf({ name }: Form): string {
  return `/${name.toLowerCase()}`
}

function pageAt({ method, path, query, headers }: HttpRequest, pages: StaticPages): StaticPage | undefined {
  const page = pages.get(`${path}?${query}`) ?? pages.get(path)
  if (!page?.isForBrowsers) return page
  return (method === 'GET' || method === 'HEAD') && /\btext\/html\b/i.test(headers.accept ?? '') ? page : undefined
}

function isUnder(mount: string, path: string): boolean {
  return path.startsWith(mount) && (path.length === mount.length || path[mount.length] === '/')
}

/** Errors have the form of the key's header. */
function mountNative(request: HttpRequest, forms: readonly Form[], defaultForm: Form): Omit<NativeMount, 'credentialConflict'> {
  const [form, ...others] = forms.filter(({ credential }) => credential.isOffered(request.headers))
  return {
    form: form && others.length === 0 ? form : defaultForm,
    path: request.path.slice(nativeMount.length),
    isKeyMalformed: hasMalformedKey(request, forms),
  }
}

/** The form on the bare mount: by header, by credential, by a parameter that only one form has, else the default. */
function chosenForm({ headers, query }: HttpRequest, forms: readonly Form[], defaultForm: Form): Form {
  const named = forms.find(({ name }) => namesForm(name, headers[formHeader]))
  if (named) return named
  const offered = forms.filter(({ credential, isChosenByKey }) => isChosenByKey && credential.isOffered(headers))
  const [only, ...others] = offered
  if (only) return others.length === 0 ? only : defaultForm
  const { credential, isChosenByKey } = defaultForm
  if (!isChosenByKey && credential.isOffered(headers)) return defaultForm
  if (!/(?:^|&)network(?:From|To)=/.test(query)) return defaultForm
  return forms.find(({ capabilities }) => capabilities.requestFields.getRate.has('networkFrom')) ?? defaultForm
}

/** Whether the key header of a form has a malformed value, like `Authorization: Basic`. */
function hasMalformedKey({ headers }: HttpRequest, forms: readonly Form[]): boolean {
  return forms.some(({ credential }) => headers[credential.header] !== undefined && !credential.isOffered(headers))
}

/** Ignores case: `X-Swap-Form: a` is Form A. */
function namesForm(name: string, header: string | undefined): boolean {
  return header?.toLowerCase() === name.toLowerCase()
}

type FormConflictFinder = (request: HttpRequest, mounted: Form | undefined) => Fault | undefined

/** Finds contradictions in the choice of the form. */
function formConflictFinder(forms: readonly Form[], credentials: readonly string[]): FormConflictFinder {
  const names = forms.map(({ name }) => name)
  return (request, mounted) => {
    const named = request.headers[formHeader]
    if (named !== undefined && !names.some((name) => namesForm(name, named)))
      return formConflict(`Invalid X-Swap-Form: it must be ${names.join(' or ')}.`)
    if (named !== undefined && mounted && !namesForm(mounted.name, named))
      return formConflict(`Invalid X-Swap-Form: the path is for Form ${mounted.name}.`)
    return findCredentialConflict(request, credentials)
  }
}

function findCredentialConflict({ headers, repeated }: HttpRequest, credentials: readonly string[]): Fault | undefined {
  let offered: string | undefined
  for (const header of credentials) {
    if (headers[header] === undefined) continue
    if (offered !== undefined) return formConflict('Two credentials were sent; please send only the one of your form.')
    offered = header
  }
  if (offered !== undefined && repeated?.includes(offered))
    return formConflict('The credential was sent twice; please send it once.')
  return undefined
}

function formConflict(message: string): Fault {
  return new Fault('invalid', message, { reason: 'form_conflict' })
}
