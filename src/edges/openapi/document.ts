/** Makes an OpenAPI 3.1 document of a form. All of it follows from the form's tables. */
import { ops } from '../../domain/service.ts'
import type { Form } from '../../wire/form.ts'
import type { Schema } from '../../wire/schema.ts'
import { requestHeaders, responseHeaders } from './headers.ts'
import { introduction } from './introduction.ts'
import { paths, securityName } from './paths.ts'
import { refusalResponses } from './responses.ts'
import {
  amountRefusalName,
  amountRefusalSchema,
  bodyName,
  bodySchema,
  errorSchema,
  pageSchema,
  rowNames,
  rowSchema,
} from './schemas.ts'

/** The document as JSON text. It depends only on the form and the version. */
export function openApi(form: Form): string {
  const document = {
    openapi: '3.1.0',
    info: {
      title: `swapgate, Form ${form.name}`,
      version: '2.0.0',
      description: introduction(form),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: `/${form.name.toLowerCase()}/api/v2`, description: 'This gateway' }],
    tags: [
      { name: 'Quotes', description: 'Coins and rates. They need no key.' },
      { name: 'Swaps', description: 'Your swaps. They need your key.' },
    ],
    paths: paths(form),
    components: {
      securitySchemes: { [securityName]: { ...form.credential.scheme, description: 'Your key. In the sandbox: `sandbox-key-1`.' } },
      schemas: schemas(form),
      parameters: requestHeaders(form.name),
      headers: responseHeaders,
      responses: refusalResponses(form),
    },
  }
  return `${JSON.stringify(document, null, 2)}\n`
}

function schemas(form: Form): Readonly<Record<string, Schema>> {
  const rows = ops.map((op) => [rowNames[op], rowSchema(op, form)] as const)
  const paged = ops.filter((op) => form.operations[op].paged)
  const pages = paged.map((op) => [`${rowNames[op]}Page`, pageSchema(form.page, rowNames[op])] as const)
  const { amountRefusal } = form
  const refusal = amountRefusal ? [[amountRefusalName, amountRefusalSchema(amountRefusal)] as const] : []
  return Object.fromEntries([...rows, ...pages, [bodyName, bodySchema(form)], ['Error', errorSchema(form)], ...refusal])
}
