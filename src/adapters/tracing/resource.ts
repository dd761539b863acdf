/** @opentelemetry/resources: who tells the spans. Nothing of the command line or the user, which the SDK would tell by itself. */
import {
  defaultResource,
  envDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES win over `resource`. */
export const detectors: ResourceDetector[] = [serviceInstanceIdDetector, envDetector]

export function resource(version: string): Resource {
  return defaultResource().merge(resourceFromAttributes({ 'service.name': 'swapgate', 'service.version': version }))
}
