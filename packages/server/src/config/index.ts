export { type ConfigFolders, checkoutDir, currentFolders, loadConfig } from "./config.ts";
export { ConfigError, type ConfigFault, type Environment, openEnvironment } from "./environment.ts";
export { isLoopbackUrl } from "./loopback.ts";
export type { Config } from "./settings.ts";
export { type ConfigVariable, configVariables } from "./variables.ts";
