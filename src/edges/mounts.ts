/** Which form a client speaks (`spec/contract.md` §2). */
import { Fault } from '../domain/fault.ts'
import type { Form } from '../wire/form.ts'
import type { Http, HttpRequest, HttpResponse } from '../wire/http.ts'
import type { Arrival } from './serve.ts'

export type Served = (request: HttpRequest, arrival?: Arrival) => Promise<HttpResponse>

const base = '/api/v2'
const formHeader = 'x-swap-form'

/** One handler for all forms: each at its own mount, all at the bare one. */
export function mounts(served: ReadonlyMap<Form, Served>, defaultForm: Form): Http {
  const forms = [...served.keys()]
  const credentials = forms.map(({ credential }) => credential.header)
  const vary = ['X-Swap-Form', ...forms.map(({ credential }) => credential.name)].join(', ')
  return (request) => {
    const mounted = forms.find((form) => isUnder(mountOf(form), request.path))
    const rest = mounted ? request.path.slice(mountOf(mounted).length) : request.path
    const isBare = !mounted && isUnder(base, rest)
    const form = mounted ?? (isBare ? chosenForm(request, forms, defaultForm) : defaultForm)
    const handle = served.get(form) as Served
    const path = isUnder(base, rest) ? rest.slice(base.length) : ''
    return handle({ ...request, path }, { misfit: misfit(request, forms, credentials, mounted), ...(isBare && { vary }) })
  }
}

function mountOf(form: Form): string {
  return `/${form.name.toLowerCase()}`
}

function isUnder(mount: string, path: string): boolean {
  return path.startsWith(mount) && (path.length === mount.length || path[mount.length] === '/')
}

/** On the bare mount: by header, by credential, by a parameter that only such a form has, else the default. */
function chosenForm({ headers, query }: HttpRequest, forms: readonly Form[], defaultForm: Form): Form {
  const named = forms.find(({ name }) => name === headers[formHeader])
  if (named) return named
  const offered = forms.filter(({ credential }) => credential.isOffered(headers))
  if (offered.length === 1) return offered[0] as Form
  if (offered.length > 1) return defaultForm
  if (!/(?:^|&)network(?:From|To)=/.test(query)) return defaultForm
  return forms.find(({ vocabulary }) => vocabulary.asks.getRate.has('networkFrom')) ?? defaultForm
}

function misfit(
  { headers, repeated }: HttpRequest,
  forms: readonly Form[],
  credentials: readonly string[],
  mounted: Form | undefined,
): Fault | undefined {
  const named = headers[formHeader]
  if (named !== undefined && !forms.some(({ name }) => name === named)) {
    return new Fault('invalid', `Invalid X-Swap-Form: it must be ${forms.map(({ name }) => name).join(' or ')}.`)
  }
  if (named !== undefined && mounted && named !== mounted.name) {
    return new Fault('invalid', 'Invalid X-Swap-Form: the path is for another form.')
  }
  if (credentials.filter((header) => headers[header] !== undefined).length > 1) {
    return new Fault('invalid', 'Two credentials were sent; please send only the one of your form.')
  }
  if (credentials.some((header) => repeated?.includes(header))) {
    return new Fault('invalid', 'The credential was sent twice; please send it once.')
  }
  return undefined
}
