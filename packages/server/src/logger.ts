import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger } from "pino";

/** Options of `createLogger`. */
export type LoggerOptions = {
  level: LevelWithSilent;
  /** Stream for the log lines. Default: standard output, in a readable form if it is a terminal. */
  destination?: DestinationStream;
  /** Number of this process if there are several. Each line shows it. */
  processNumber?: number | undefined;
};

// Names of fields that are hidden in the log. svc never logs secrets; this list protects against later mistakes.
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

/**
 * Returns the logger of the server. It writes one JSON object per line, times as RFC 3339, and errors without the values of database
 * statements.
 */
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

/** Returns standard output as a stream for log lines. On a terminal, it shows JSON lines in a readable form. */
export async function openStandardOutput(): Promise<DestinationStream> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import("pino-pretty");
    return pretty({ sync: true, colorize: true, singleLine: true, translateTime: "SYS:HH:MM:ss.l" });
  }
  // Asynchronous, because a slow reader of the log must not block the event loop. Lines that are still waiting are written at exit.
  return pino.destination({ dest: 1, sync: false });
}
