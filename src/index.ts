/** The package as a library: the gateway in another program, which then takes care of signals and of reading the configuration again. */
import { type Config, loadConfig as load } from './config/index.ts'
import { forms } from './forms/index.ts'

export { type Config, ConfigError, type ConfigFault } from './config/index.ts'
export { type Running, start } from './main.ts'

/** Reads a configuration file (`docs/configuration.md`). Throws a `ConfigError` that holds every fault. */
export function loadConfig(file: string): Config {
  return load(file, forms)
}
