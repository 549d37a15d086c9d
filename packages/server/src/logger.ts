import { type DestinationStream, type Level, type LevelWithSilent, type Logger, pino } from "pino";
import { describeError } from "./describe-error.ts";

export type { Logger } from "pino";

/** Options of `createLogger`. */
export type LoggerOptions = {
  level: LevelWithSilent;
  /** Stream for the log lines. Default: standard output, in a readable form if it is a terminal. */
  destination?: DestinationStream;
  /** Number of this process if the server runs several processes. Each log line shows it. */
  processNumber?: number | undefined;
};

/** Names of fields that are hidden in the log. svc never logs secrets; this list protects against later mistakes. */
const secretFields: ReadonlySet<string> = new Set([
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
]);

type LogFields = Record<string, unknown>;

/**
 * Returns the fields of a log line. Fields with the name of a secret are hidden, also those in objects of the line and in the `headers` of
 * such objects. Returns the same object if nothing is hidden. pino's own `redact` is not used: it parses its paths again for each field of
 * each line, which makes 200 KB of garbage for each job. `depth`: 0 for the line, 1 for its objects, 2 for their headers.
 */
function withoutSecrets(fields: LogFields, depth = 0): LogFields {
  let shown = fields;
  for (const name in fields) {
    const value = fields[name];
    const isLooked = depth === 0 || (depth === 1 && name === "headers");
    const isHidden = secretFields.has(name) && value !== undefined;
    const next = isHidden ? "[redacted]" : isLooked && isOfFields(value) ? withoutSecrets(value, depth + 1) : value;
    if (next === value) continue;
    if (shown === fields) shown = { ...fields };
    shown[name] = next;
  }
  return shown;
}

/**
 * True if a value is an object whose fields are logged. False for an error, because `describeError` chooses which of its fields are shown.
 */
function isOfFields(value: unknown): value is LogFields {
  return typeof value === "object" && value !== null && !ArrayBuffer.isView(value) && !(value instanceof Error);
}

/**
 * Returns the logger of the server. It writes one JSON object per line, times as RFC 3339, and errors without the values of database
 * statements.
 */
export async function createLogger({ level, destination, processNumber }: LoggerOptions): Promise<Logger> {
  const options = {
    level,
    base: processNumber === undefined ? null : { process: processNumber },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: {
      level: (label: string) => ({ level: label as Level }),
      log: (fields: LogFields) => withoutSecrets(fields),
    },
    serializers: { err: describeError },
  };
  return pino(options, destination ?? (await openStandardOutput()));
}

/** Returns standard output as a stream for log lines. On a terminal, it shows JSON lines in a readable form. */
export async function openStandardOutput(): Promise<DestinationStream> {
  if (process.stdout.isTTY) {
    const { default: pretty } = await import("pino-pretty");
    return pretty({ sync: true, colorize: true, singleLine: true, translateTime: "SYS:HH:MM:ss.l" });
  }
  // Lines are written asynchronously, because a slow reader of the log must not block the event loop. Lines that are not written yet are
  // written when the process exits.
  return pino.destination({ dest: 1, sync: false });
}
