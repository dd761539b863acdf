/** @opentelemetry/resources: who tells the spans. Nothing of the command line or the user, which the SDK would tell by itself. */
import {
  defaultResource,
  detectResources,
  envDetector,
  type Resource,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over what the gateway says of itself. */
export function resource(version: string): Resource {
  const own = resourceFromAttributes({ 'service.name': 'swapgate', 'service.version': version })
  return defaultResource()
    .merge(own)
    .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }))
}
