export { type Config, type ConfigPlaces, checkoutDir, currentPlaces, loadConfig } from "./config.ts";
export { ConfigError, type ConfigFault } from "./config-error.ts";
export { type Environment, openEnvironment } from "./environment.ts";
export { type ConfigVariable, configVariables } from "./variables.ts";
