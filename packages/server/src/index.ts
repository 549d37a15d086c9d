export { type Config, type ConfigPlaces, checkoutDir, currentPlaces, loadConfig } from "./config/config.ts";
export { ConfigError, type ConfigFault } from "./config/config-error.ts";
export { type Environment, openEnvironment } from "./config/environment.ts";
export { type ConfigVariable, configVariables } from "./config/variables.ts";
export type { HttpTimeouts } from "./http/server.ts";
export { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
export { serve } from "./serve.ts";
export type { FirstKey } from "./service/first-key.ts";
export { type Service, type ServiceOptions, startService } from "./service.ts";
