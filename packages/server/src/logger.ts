import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger } from "pino";

/** Options of `createLogger`. */
export type LoggerOptions = {
  level: LevelWithSilent;
  /** Destination of the lines. Default: stdout, in a readable form on a terminal. */
  destination?: DestinationStream;
  /** Number of this process among several, shown in each line. */
  processNumber?: number | undefined;
};

// Secrets are never passed to the logger. This hides them if a later change does so by mistake.
const secretFields = [
  "authorization",
  "cookie",
  "key",
  "token",
  "secret",
  "password",
  "signingSecret",
  "adminToken",
  "bootstrapKey",
  "databaseUrl",
];

/** Creates the server's logger: one JSON object per line, times as RFC 3339, errors without the values of statements. */
export async function createLogger({ level, destination, processNumber }: LoggerOptions): Promise<Logger> {
  const options = {
    level,
    base: processNumber === undefined ? null : { process: processNumber },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label as Level }) },
    serializers: { err: describeError },
    redact: {
      paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.headers.${field}`]),
      censor: "[redacted]",
    },
  };
  return pino(options, destination ?? (await openStandardOutput()));
}

/** Opens standard output, which shows JSON lines in a readable form on a terminal. */
export async function openStandardOutput(): Promise<DestinationStream> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import("pino-pretty");
    return pretty({ sync: true, colorize: true, singleLine: true, translateTime: "SYS:HH:MM:ss.l" });
  }
  // Not synchronous, because a slow reader of the log must not block the event loop. Waiting lines are written at exit.
  return pino.destination({ dest: 1, sync: false });
}
