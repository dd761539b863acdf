/** What clients ask for, and how it ends. */
import { rate, series } from './expression.ts'
import { availability } from './objectives.ts'
import { graph } from './panel.ts'

const operation = 'operation=~"$operation"'
const isFault = '"fault", "$1", "error_type", "(none|caller|limit|provider|gateway).*"'

export const traffic = [
  graph({
    title: 'Outcomes by whose fault',
    description:
      'How requests ended: none (as asked), caller (a 4xx that the client caused), limit, provider, gateway. Much provider: go to the dashboard Providers. Any gateway: read the log of that time.',
    runbooks: availability,
    unit: 'reqps',
    queries: {
      '{{fault}}': `sum by (fault) (label_replace(rate(${series('swapgate_requests_total', operation)}[$__rate_interval]), ${isFault}))`,
    },
    isStacked: true,
  }),
  graph({
    title: 'Requests by operation',
    description: 'What clients ask for. "none" is no operation at all: unknown paths and methods.',
    unit: 'reqps',
    queries: { '{{operation}}': rate('swapgate_requests_total', 'operation', operation) },
    isStacked: true,
  }),
  graph({
    title: 'Requests by form',
    description: 'Form of the client and form of the provider behind it; "none" where no provider answered.',
    unit: 'reqps',
    queries: { '{{client_form}} from {{provider_form}}': rate('swapgate_requests_total', 'client_form, provider_form', operation) },
    isStacked: true,
  }),
  graph({
    title: 'What went wrong',
    description:
      'Requests that were not answered as asked, by kind. Many caller_invalid of a new client: it needs help with the API.',
    runbooks: availability,
    unit: 'reqps',
    queries: { '{{error_type}}': rate('swapgate_requests_total', 'error_type', `error_type!="none", ${operation}`) },
  }),
  graph({
    title: 'What clients were told',
    description:
      'Answers of 4xx and 5xx by X-Swap-Reason. Much network_unknown or address_invalid of a new client: it needs help with the API.',
    unit: 'reqps',
    queries: { '{{reason}}': rate('swapgate_errors_total', 'reason', operation) },
  }),
  graph({
    title: 'Answers by status',
    description: 'HTTP status of the answers. 5xx without a burn rate above 1 is within the objective.',
    unit: 'reqps',
    queries: { '{{http_response_status_code}}': rate('http_server_request_duration_seconds_count', 'http_response_status_code') },
    isStacked: true,
  }),
  graph({
    title: 'Fields left out or worked out',
    description:
      'Fields of answers that the client form has and nobody knows (omitted), or that the gateway worked out (derived). A step up means that a provider sends less than before.',
    unit: 'short',
    queries: {
      '{{what}} {{field}} ({{client_form}} from {{provider_form}})': rate(
        'swapgate_response_fields_total',
        'what, field, client_form, provider_form',
      ),
    },
  }),
]
