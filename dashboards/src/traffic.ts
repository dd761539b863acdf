/** Requests of clients, and their results. */
import { rate, series } from './expression.ts'
import { availability } from './objectives.ts'
import { graph } from './panel.ts'

const operation = 'operation=~"$operation"'
const isFault = '"fault", "$1", "error_type", "(none|caller|limit|provider|gateway).*"'

export const traffic = [
  graph({
    title: 'Outcomes by cause',
    description:
      'How requests ended: none (success), caller (a 4xx that the client caused), limit, provider, gateway. Much provider: open the dashboard Providers. Any gateway: read the log of that time.',
    runbooks: availability,
    unit: 'reqps',
    queries: {
      '{{fault}}': `sum by (fault) (label_replace(rate(${series('swapgate_requests_total', operation)}[$__rate_interval]), ${isFault}))`,
    },
    isStacked: true,
  }),
  graph({
    title: 'Requests by operation',
    description: 'Requests of clients. "none": no operation, for unknown paths and methods.',
    unit: 'reqps',
    queries: { '{{operation}}': rate('swapgate_requests_total', 'operation', operation) },
    isStacked: true,
  }),
  graph({
    title: 'Requests by form',
    description: 'The client’s form and the provider’s form. "none": no provider responded.',
    unit: 'reqps',
    queries: { '{{client_form}} from {{provider_form}}': rate('swapgate_requests_total', 'client_form, provider_form', operation) },
    isStacked: true,
  }),
  graph({
    title: 'Errors by type',
    description: 'Failed requests by error type. Many caller_invalid of a new client: it needs help with the API.',
    runbooks: availability,
    unit: 'reqps',
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', `error_type!="none", ${operation}`) },
  }),
  graph({
    title: 'Errors by X-Swap-Reason',
    description:
      '4xx and 5xx responses by the reason that clients get. Many network_unknown or address_invalid of a new client: it needs help with the API.',
    unit: 'reqps',
    queries: { '{{reason}}': rate('swapgate_errors_total', 'reason', operation) },
  }),
  graph({
    title: 'Responses by status',
    description: 'HTTP status of the responses. 5xx without a burn rate above 1 is within the objective.',
    unit: 'reqps',
    queries: { '{{http_response_status_code}}': rate('http_server_request_duration_seconds_count', 'http_response_status_code') },
    isStacked: true,
  }),
  graph({
    title: 'Omitted and derived fields',
    description:
      'Fields of the client’s form whose value is unknown (omitted), or computed by the gateway (derived). A step up: a provider sends fewer fields than before.',
    unit: 'short',
    queries: {
      '{{what}} {{field}} ({{client_form}} from {{provider_form}})': rate(
        'swapgate_response_fields_total',
        'what, field, client_form, provider_form',
      ),
    },
  }),
]
