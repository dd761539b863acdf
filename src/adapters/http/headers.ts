/** Headers as Node parsed them. */
import type { IncomingHttpHeaders } from 'node:http'
import type { Headers } from '../../wire/http.ts'

/** Node joins the values of a repeated header with commas. Only `set-cookie` stays a list, and nothing here reads it. */
export function parsedHeaders(headers: IncomingHttpHeaders): Headers {
  return headers as Headers
}
