/** @opentelemetry/resources: the resource of spans. Without the command line and the user, which the SDK adds by default. */
import {
  defaultResource,
  envDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources'

/** OTEL_SERVICE_NAME and OTEL_RESOURCE_ATTRIBUTES override `resource`. */
export const detectors: ResourceDetector[] = [serviceInstanceIdDetector, envDetector]

export function resource(version: string): Resource {
  return defaultResource().merge(resourceFromAttributes({ 'service.name': 'swapgate', 'service.version': version }))
}
