/** The package as a library: runs the gateway in another program, which handles signals and reloads the configuration itself. */
import { type Config, loadConfig as load } from './config/index.ts'
import { knownForms } from './forms/index.ts'

export { type Config, ConfigError, type ConfigFault } from './config/index.ts'
export { type Running, start } from './main.ts'

/** Reads a configuration file (`docs/configuration.md`). Throws a `ConfigError` with all errors. */
export function loadConfig(file: string): Config {
  return load(file, knownForms)
}
