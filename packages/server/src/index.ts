export type { HttpTimeouts } from "./listen/http-server.ts";
export { createLogger, type Logger, type LoggerOptions } from "./logger.ts";
export { serve } from "./serve.ts";
export { type Server, type ServerOptions, startServer } from "./server.ts";
export type { FirstKey } from "./start/first-key.ts";
