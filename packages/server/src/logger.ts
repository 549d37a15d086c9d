import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger } from "pino";

/** Options of `createLogger`. */
export type LoggerOptions = {
  level: LevelWithSilent;
  /** Where lines go. Default: stdout, made readable when it is a terminal. */
  destination?: DestinationStream;
  /** The number of this process among several, which then stands in each line. */
  processNumber?: number | undefined;
};

// Nothing secret is handed to the logger; this holds back what a later change might hand it by mistake.
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

/** Makes the server's logger: one JSON object a line, times as RFC 3339, errors without the values of statements. */
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

/** Standard output, which takes lines of JSON and shows them readably on a terminal. */
export async function openStandardOutput(): Promise<DestinationStream> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import("pino-pretty");
    return pretty({ sync: true, colorize: true, singleLine: true, translateTime: "SYS:HH:MM:ss.l" });
  }
  // Not synchronous: a slow reader of the log must not stop the event loop. What waits is written at exit.
  return pino.destination({ dest: 1, sync: false });
}
