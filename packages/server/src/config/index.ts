export { type Config, type ConfigPlaces, checkoutDir, currentPlaces, loadConfig } from "./config.ts";
export { ConfigError, type ConfigFault, type Environment, openEnvironment } from "./environment.ts";
export { type ConfigVariable, configVariables } from "./variables.ts";
