/** The package as a library: the gateway as a handler in another program, or as a whole with its ports. */
import { type Config, loadConfig as load } from './config/index.ts'
import { knownForms } from './forms/index.ts'

export { type Config, ConfigError, type ConfigFault, type ConfigSettings } from './config/index.ts'
export { type ConfigSource, createSwapgate, type Swapgate, type SwapgateOptions } from './embedded.ts'
export { type Running, start } from './process/start.ts'

/**
 * Reads a configuration file (`docs/configuration.md`). Throws a `ConfigError` with all errors.
 *
 * @example
 *     try {
 *       const swapgate = createSwapgate(loadConfig('config/gateway.yaml'))
 *     } catch (reason) {
 *       if (reason instanceof ConfigError) for (const { path, message } of reason.faults) console.error(path, message)
 *     }
 */
export function loadConfig(file: string): Config {
  return load(file, knownForms)
}
